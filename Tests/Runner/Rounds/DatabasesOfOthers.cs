using System.Text.Json;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>What a run finds on a server that others use, and what it may remove.</summary>
[Parallelizable]
public sealed class DatabasesOfOthers : OnAServerOfItsOwn
{
    private const string Mark = "comparison kit, removable when this process has ended: ";

    private static readonly ProcessIdentity Ended = ProcessIdentity.Current with { Started = "another process that had this id" };

    private string name = null!;

    [SetUp]
    public void NameDatabase() => name = DatabaseOwner.NewName();

    [TearDown]
    public Task DropDatabase() => DatabaseOwner.DropAsync(Server.ConnectionString, name, CancellationToken.None);

    [Test]
    public async Task Those_of_a_run_that_has_ended_are_removed()
    {
        await CreateAsync(Mark + JsonSerializer.Serialize(Ended));

        Assert.That(await RemoveLeftoversAsync(), Is.EqualTo([new Leftover(name)]));
        Assert.That(await Server.DatabasesAsync(), Does.Not.Contain(name));
    }

    [Test]
    public async Task What_was_left_prepared_in_them_is_rolled_back_first()
    {
        await CreateAsync(Mark + JsonSerializer.Serialize(Ended));
        await using (var connection = await Server.In(name).OpenAsync())
        {
            foreach (var statement in new[] { "CREATE TABLE t (id int)", "BEGIN", "INSERT INTO t VALUES (1)", $"PREPARE TRANSACTION 'left in {name}'" })
            {
                await using var command = connection.CreateCommand();
                command.CommandText = statement;
                await command.ExecuteNonQueryAsync();
            }
        }

        Assert.That(await RemoveLeftoversAsync(), Is.EqualTo([new Leftover(name)]));
        Assert.That(await Server.ReadAsync($"SELECT gid FROM pg_prepared_xacts WHERE gid = 'left in {name}'"), Is.Empty);
    }

    [Test]
    public Task Those_of_a_live_run_are_left_alone() => IsLeftAloneAsync(Mark + JsonSerializer.Serialize(ProcessIdentity.Current));

    [Test]
    public Task Those_of_another_machine_are_left_alone() => IsLeftAloneAsync(Mark + JsonSerializer.Serialize(Ended with { Realm = "db2 pid:[4026531836]" }));

    /// <summary>The first namespace of processes has the same number on each machine.</summary>
    [Test]
    public async Task Those_of_another_machine_with_our_name_are_left_alone()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Elsewhere the name is all that is known of a machine.");
        var realm = ProcessIdentity.Current.Realm.Split(' ');
        Assert.That(realm, Has.Length.EqualTo(3));

        await IsLeftAloneAsync(Mark + JsonSerializer.Serialize(Ended with { Realm = $"{realm[0]} {new string('0', 32)} {realm[2]}" }));
    }

    [Test]
    public Task Those_that_bear_another_comment_are_left_alone() => IsLeftAloneAsync("my kit's parts");

    [Test]
    public async Task Those_that_bear_no_comment_are_left_alone()
    {
        name = $"kit_{Guid.NewGuid():N}";
        await Server.ExecuteAsync($"CREATE DATABASE {name}");

        Assert.That(await RemoveLeftoversAsync(), Has.None.Property(nameof(Leftover.Name)).EqualTo(name));
    }

    /// <summary>A dump can have the mark, and a name changes no comment.</summary>
    [TestCase("kit_keep")]
    [TestCase("kit_0123456789ab_restored")]
    public Task Those_that_somebody_has_named_are_left_alone(string named)
    {
        name = named;
        return IsLeftAloneAsync(Mark + JsonSerializer.Serialize(Ended));
    }

    /// <summary>A kit that is killed between the statement that creates it and the one that marks it leaves such a one.</summary>
    [TestCase("kit_0123456789ab")]
    [TestCase("kit_01234567_template", Description = "Of a run.")]
    [TestCase("kit_01234567_widgets_12", Description = "Of a run.")]
    public async Task Those_with_a_name_of_the_kit_and_no_comment_are_named(string given)
    {
        name = given;
        await Server.ExecuteAsync($"CREATE DATABASE {name}");

        var found = (await RemoveLeftoversAsync()).Single(one => one.Name == name);

        Assert.That(found.ToString(), Does.EndWith($" If no kit is creating it now: DROP DATABASE {name};"));
        Assert.That(await Server.DatabasesAsync(), Contains.Item(name));
    }

    [Test]
    public async Task Those_of_a_role_that_we_are_not_are_left_alone()
    {
        await CreateAsync(Mark + JsonSerializer.Serialize(Ended));
        await Server.ExecuteAsync("CREATE ROLE neighbour LOGIN CREATEDB PASSWORD 'secret'");
        try
        {
            var removed = await DatabaseOwner.RemoveLeftoversAsync(
                Server.As("neighbour", "secret").ConnectionString + ";Pooling=false",
                CancellationToken.None);

            Assert.That(removed, Is.Empty);
            Assert.That(await Server.DatabasesAsync(), Contains.Item(name));
        }
        finally
        {
            await Server.ExecuteAsync("DROP ROLE neighbour");
        }
    }

    [Test]
    public async Task Those_of_a_killed_run_are_removed_by_the_next()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("The handler process is looked up in /proc.");
        var before = await Server.DatabasesAsync();
        using (var killed = RunnerProcess.Start(Arguments("killed", messages: 100_000)))
        {
            var handler = await killed.HandlerAsync();
            await killed.SignalAsync("KILL");
            await killed.EndAsync();
            await Eventually.HoldsAsync(() => handler.HasEnded, "the handler process ends with its runner");
        }

        Assert.That((await Server.DatabasesAsync()).Except(before).Count(), Is.EqualTo(3));

        var next = await RunnerProcess.RunAsync(Arguments("next", messages: 1));

        Assert.That(next.ExitCode, Is.EqualTo(ExitCode.Success), next.Output + next.Errors);
        Assert.That(next.Output.Split('\n').Count(line => line.EndsWith(", left by a crashed run.", StringComparison.Ordinal)), Is.EqualTo(3));
        Assert.That(await Server.DatabasesAsync(), Is.EqualTo(before));
    }

    private string[] Arguments(string folder, int messages) =>
    [
        "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off",
        "--messages", $"{messages}", "--rounds", "1", "--warmup", "0", "--seed-rows", "10",
        "--postgresql", Server.ConnectionString, "--out", Path.Combine(Parent.Path, folder),
    ];

    private async Task IsLeftAloneAsync(string comment)
    {
        await CreateAsync(comment);

        Assert.That(await RemoveLeftoversAsync(), Has.None.Property(nameof(Leftover.Name)).EqualTo(name));
        Assert.That(await Server.DatabasesAsync(), Contains.Item(name));
    }

    private async Task CreateAsync(string comment)
    {
        await Server.ExecuteAsync($"CREATE DATABASE {name}");
        await Server.ExecuteAsync($"COMMENT ON DATABASE {name} IS {TestDatabases.Literal(comment)}");
    }

    private Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync() => DatabaseOwner.RemoveLeftoversAsync(Server.ConnectionString, CancellationToken.None);
}
