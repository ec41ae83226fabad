using System.Text.Json;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests.Servers;

/// <summary>Private servers that start, crash, restart and end.</summary>
[Parallelizable]
public sealed class PrivateServerLifeTests
{
    private TemporaryFolder parent = null!;

    [SetUp]
    public void MakeParent()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveParent() => parent?.Dispose();

    [Test]
    public async Task One_for_more_handlers_has_more_connections_and_prepared_transactions()
    {
        await using var server = await PrivatePostgreSql.StartAsync(parent.Path, connections: 210, CancellationToken.None);

        foreach (var setting in new[] { "max_connections", "max_prepared_transactions" })
            Assert.That(await ExecuteAsync(server, $"SELECT current_setting('{setting}')"), Is.EqualTo("210"), setting);
    }

    [Test]
    public async Task Committed_rows_survive_an_immediate_stop_and_the_port_stays_and_disposing_leaves_no_process_and_no_folder()
    {
        var server = await StartAsync();
        await ExecuteAsync(server, "CREATE TABLE kept AS SELECT 1 AS id");

        await server.StopImmediatelyAsync(CancellationToken.None);
        var stopped = PostgreSqlFacts.ReadAsync(server.ConnectionString, CancellationToken.None);
        await Assert.ThatAsync(() => stopped, Throws.InstanceOf<KitException>().With.Message.Contains("out of reach"));
        await server.RestartAsync(CancellationToken.None);

        Assert.That(await ExecuteAsync(server, "SELECT id FROM kept"), Is.EqualTo(1));

        var postmaster = ProcessIdentity.Of(server.PostmasterPid)!;
        await server.DisposeAsync();

        await Eventually.HoldsAsync(() => postmaster.HasEnded, "the server's process has ended");
        Assert.Multiple(() =>
        {
            Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
            Assert.That(() => server.PostmasterPid, Throws.InvalidOperationException);
        });
    }

    [Test]
    public async Task A_leftover_of_a_dead_owner_is_stopped_and_removed_and_those_of_live_ones_and_of_other_containers_are_left_alone()
    {
        await using var live = await StartAsync();
        await using var elsewhere = await StartAsync();
        Disown(elsewhere, ProcessIdentity.Current with { Started = "cannot be seen from here", Realm = "another container" });
        var leftover = await StartAsync();
        var postmaster = ProcessIdentity.Of(leftover.PostmasterPid)!;
        Disown(leftover, ProcessIdentity.Current with { Started = "another process that had this id" });

        await using var next = await StartAsync();

        await Eventually.HoldsAsync(() => postmaster.HasEnded, "the server's process has ended");
        Assert.Multiple(() =>
        {
            Assert.That(Directory.Exists(leftover.DataFolder), Is.False);
            Assert.That(Directory.EnumerateDirectories(parent.Path).Count(), Is.EqualTo(3));
        });
        Assert.That(await ExecuteAsync(live, "SELECT 1"), Is.EqualTo(1));
        Assert.That(await ExecuteAsync(elsewhere, "SELECT 1"), Is.EqualTo(1));
    }

    [Test]
    [Exhaustive]
    public async Task A_leftover_whose_server_crashed_too_is_removed_and_the_process_that_got_its_id_is_not_touched()
    {
        var leftover = await StartAsync();
        await leftover.StopImmediatelyAsync(CancellationToken.None);
        await using var bystander = await StartAsync();
        var pidFile = await File.ReadAllTextAsync(Path.Combine(bystander.DataFolder, "postmaster.pid"));
        await File.WriteAllTextAsync(Path.Combine(leftover.DataFolder, "postmaster.pid"), pidFile);
        Disown(leftover, ProcessIdentity.Current with { Started = "another process that had this id" });

        await using var next = await StartAsync();

        Assert.Multiple(() =>
        {
            Assert.That(Directory.Exists(leftover.DataFolder), Is.False);
            Assert.That(() => bystander.PostmasterPid, Throws.Nothing);
        });
    }

    [Test]
    public async Task A_server_that_does_not_start_says_why_with_the_end_of_its_log()
    {
        await using var server = await StartAsync();
        await File.AppendAllTextAsync(Path.Combine(server.DataFolder, "kit.conf"), "shared_buffers = 'much'\n");

        await Assert.ThatAsync(
            () => server.RestartAsync(CancellationToken.None),
            Throws.InstanceOf<KitException>().With.Message.Contains("does not start").And.Message.Contains("shared_buffers"));
    }

    [Test]
    public async Task A_parent_that_cannot_hold_folders_is_named()
    {
        var file = Path.Combine(parent.Path, "file");
        await File.WriteAllTextAsync(file, "");

        await Assert.ThatAsync(
            () => PrivatePostgreSql.StartAsync(file, CancellationToken.None),
            Throws.InstanceOf<KitException>().With.Message.Contains(file).And.Property(nameof(KitException.Remedy)).Contains(ServerPlace.Variable));
    }

    [Test]
    public async Task A_parent_that_cannot_be_written_is_named()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("A folder that not even root can write to is a Linux one.");

        await Assert.ThatAsync(
            () => PrivatePostgreSql.StartAsync("/sys", CancellationToken.None),
            Throws.InstanceOf<KitException>().With.Message.Contains("/sys").And.Property(nameof(KitException.Remedy)).Contains(ServerPlace.Variable));
    }

    [TestCase("4k", Description = "Full when the first file is written.")]
    [TestCase("30m", Description = "Full while initdb copies the template.")]
    public async Task A_full_disk_is_said_and_nothing_is_left_on_it(string size)
    {
        if (!OperatingSystem.IsLinux() || !Environment.IsPrivilegedProcess)
            Assert.Ignore("Only root can mount a small disk, and only on Linux.");
        var mount = await new ExternalProgram("mount").RunAsync(["-t", "tmpfs", "-o", $"size={size}", "tmpfs", parent.Path], CancellationToken.None);
        if (!mount.Succeeded)
            Assert.Ignore($"A small disk cannot be mounted here: {mount.Output}");
        try
        {
            await Assert.ThatAsync(
                StartAsync, Throws.InstanceOf<KitException>().With.Message.Contains("No space left on device").And.Message.Contains(parent.Path));

            Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
        }
        finally
        {
            await new ExternalProgram("umount").RunAsync([parent.Path], CancellationToken.None);
        }
    }

    [Test]
    public async Task A_cancelled_start_leaves_nothing_behind()
    {
        await CancelledStart.OfAsync(TimeSpan.FromSeconds(0.6), token => PrivatePostgreSql.StartAsync(parent.Path, token));

        Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
    }

    private Task<PrivatePostgreSql> StartAsync() => PrivatePostgreSql.StartAsync(parent.Path, CancellationToken.None);

    private static void Disown(PrivatePostgreSql server, ProcessIdentity owner)
    {
        var file = Path.Combine(server.DataFolder, "..", "..", "owner.json");
        File.WriteAllText(file, JsonSerializer.Serialize(owner));
    }

    private static async Task<object?> ExecuteAsync(PrivatePostgreSql server, string statement)
    {
        await using var connection = new NpgsqlConnection(server.ConnectionString + ";Pooling=false");
        await connection.OpenAsync();
        await using var command = new NpgsqlCommand(statement, connection);
        return await command.ExecuteScalarAsync();
    }
}
