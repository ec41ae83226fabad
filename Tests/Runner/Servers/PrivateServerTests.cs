using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;
using Npgsql;

namespace Kit.Tests.Servers;

/// <summary>A private server while it runs.</summary>
public sealed class PrivateServerTests
{
    [TestCase("fsync", "on")]
    [TestCase("synchronous_commit", "on")]
    [TestCase("full_page_writes", "on")]
    [TestCase("track_commit_timestamp", "on")]
    [TestCase("max_prepared_transactions", "100")]
    [TestCase("max_connections", "100")]
    [TestCase("shared_buffers", "256MB")]
    [TestCase("max_wal_size", "4GB")]
    [TestCase("checkpoint_timeout", "30min")]
    [TestCase("listen_addresses", "127.0.0.1")]
    [TestCase("unix_socket_directories", "")]
    [TestCase("server_encoding", "UTF8")]
    [TestCase("lc_messages", "C")]
    public async Task Has_the_setting(string setting, string expected) =>
        Assert.That(await AskAsync($"SELECT current_setting('{setting}')"), Is.EqualTo(expected));

    [Test]
    public async Task Collates_bytewise() =>
        Assert.That(await AskAsync("SELECT datcollate FROM pg_database WHERE datname = 'postgres'"), Is.EqualTo("C"));

    [Test]
    public async Task Keeps_only_a_scram_verifier_of_the_password() =>
        Assert.That(await AskAsync("SELECT rolpassword FROM pg_authid WHERE rolname = current_user"), Does.StartWith("SCRAM-SHA-256$"));

    [Test]
    public async Task Leaves_the_password_in_no_file()
    {
        var server = await PostgreSqlServer.GetAsync();
        var password = new NpgsqlConnectionStringBuilder(server.ConnectionString).Password!;

        var small = Directory.EnumerateFiles(Path.GetDirectoryName(server.DataFolder)!).Concat(Directory.EnumerateFiles(server.DataFolder));

        Assert.That(small.Where(file => File.ReadAllText(file).Contains(password, StringComparison.Ordinal)), Is.Empty);
    }

    [Test]
    public async Task Does_not_run_as_root()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("The owner of a process is read from /proc.");
        var server = await PostgreSqlServer.GetAsync();

        var status = await File.ReadAllLinesAsync($"/proc/{server.PostmasterPid}/status");

        Assert.That(status.Single(line => line.StartsWith("Uid:", StringComparison.Ordinal)).Split('\t')[1], Is.Not.EqualTo("0"));
    }

    [Test]
    public async Task Tells_the_version_that_runs()
    {
        var server = await PostgreSqlServer.GetAsync();

        Assert.That(await AskAsync("SELECT current_setting('server_version')"), Does.StartWith(server.Version.ToString()));
    }

    [Test]
    public async Task Passes_its_own_preflight()
    {
        var server = await PostgreSqlServer.GetAsync();

        var facts = await PostgreSqlFacts.ReadAsync(server.ConnectionString, CancellationToken.None);

        Assert.That(
            facts.Findings(twoPhaseWanted: true).Where(finding => finding.Problem is not null && finding.Name is not "prepared transactions"),
            Is.Empty);
    }

    [Test]
    public async Task Cpu_of_a_backend_that_came_and_went_is_the_servers()
    {
        var server = await PostgreSqlServer.GetAsync();
        if (CpuSample.Take() is not { } start)
        {
            Assert.Ignore(CpuSample.Support.Because!);
            return;
        }

        await using (var connection = new NpgsqlConnection(server.ConnectionString + ";Pooling=false"))
        {
            await connection.OpenAsync();
            await using var command = new NpgsqlCommand("SELECT sum(sqrt(n)) FROM generate_series(1, 5000000) AS n", connection);
            await command.ExecuteScalarAsync();
        }

        var family = new HashSet<int> { server.PostmasterPid };
        // Its time is the server's own when the server has taken notice of its end.
        await Eventually.HoldsAsync(() => CpuUse.TimeOf(start, CpuSample.Take()!, family) > TimeSpan.FromSeconds(0.2), "its time is the server's");
    }

    private static async Task<string?> AskAsync(string question)
    {
        var server = await PostgreSqlServer.GetAsync();
        await using var connection = new NpgsqlConnection(server.ConnectionString);
        await connection.OpenAsync();
        await using var command = new NpgsqlCommand(question, connection);
        return (string?)await command.ExecuteScalarAsync();
    }
}
