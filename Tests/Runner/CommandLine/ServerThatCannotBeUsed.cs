using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Tests.Rounds;

namespace Kit.Tests.CommandLine;

/// <summary>A run on a named server that does not do. It ends before any work, and the folder for its results is free for the next.</summary>
[Parallelizable]
public sealed class ServerThatCannotBeUsed : OnANamedServer
{
    private const string Secret = "wrong-and-secret";

    private string Folder => Path.Combine(Parent.Path, "run");

    [Test]
    public Task Out_of_reach() => FailsAsync(
        $"Host=127.0.0.1;Port=1;Username=kit;Password={Secret}", "The PostgreSQL server is out of reach: kit at 127.0.0.1:1/kit: ");

    [Test]
    public Task Wrong_password() => FailsAsync(Server.As("kit", Secret).ConnectionString, "Wrong password: kit at 127.0.0.1:");

    [Test]
    public Task Unreadable_connection_string() => FailsAsync($"Host=h;Password=ab;{Secret}", "The PostgreSQL connection string cannot be read.");

    [Test]
    public async Task Role_that_may_not_create_databases()
    {
        await Server.ExecuteAsync($"CREATE ROLE visitor LOGIN PASSWORD '{Secret}'");
        try
        {
            await FailsAsync(Server.As("visitor", Secret).ConnectionString, "The kit creates databases of its own, and visitor at 127.0.0.1:");
        }
        finally
        {
            await Server.ExecuteAsync("DROP ROLE visitor");
        }
    }

    [Test]
    [Exhaustive]
    public async Task No_prepared_transactions_leave_full_dtc_out()
    {
        await using var own = await PrivatePostgreSql.StartAsync(Parent.Path, CancellationToken.None);
        var without = new NamedServer(own.ConnectionString);
        await without.ExecuteAsync("ALTER SYSTEM SET max_prepared_transactions = 0");
        await own.RestartAsync(CancellationToken.None);

        const string reason = "full-dtc prepares transactions, and the server forbids it: max_prepared_transactions is 0.";

        await FailsAsync(without.ConnectionString, reason, "--mode", "full-dtc");

        var others = await RunAsync(without.ConnectionString, "--framework", "bare", "--mode", "full-dtc,dtc-off");
        var run = RunFolder.Open(Folder).Load();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(others.ExitCode, Is.EqualTo(ExitCode.Failure), "A cell that was asked for was not measured.");
            Assert.That(
                others.Output, Does.Contain($"bare/postgresql/full-dtc/ado is not measured: {reason} As superuser: ALTER SYSTEM SET"));
            Assert.That(
                run.Document.LeftOut.Single(left => left.Cell.Framework == "bare").Because,
                Does.StartWith(reason).And.EndWith("run without full-dtc"));
            Assert.That(run.Rounds.Single().Cell.Mode, Is.EqualTo("dtc-off"));
            Assert.That(run.Rounds.Single().Outcome.IsValid(), Is.True);
        }

        var alone = new RunPlan(
            [Cell.Find("bare.postgresql.dtc-off.ado")!], run.Document.Settings,
            TransportArguments.Of([(Transport.Named(TransportName.PostgreSql).Server!, without.ConnectionString)]), RepeatNoisy: false, Folder, "run");
        Assert.That(alone.Runnable, Has.Count.EqualTo(1));
        Assert.That(await alone.FindLacksAsync(CancellationToken.None), Is.Empty, "it would be measured alone");
    }

    [Test]
    public Task Fewer_connections_than_the_handlers_need() => FailsAsync(
        Server.ConnectionString,
        "The cell needs up to 127 connections to PostgreSQL: 1 × (60 for handlers + 60 for receives + 2) + 5 for the runner, " +
        "and the server has 100 (max_connections), 3 of them reserved for superusers.",
        "--mode", "dtc-off", "--concurrency", "60");

    private async Task FailsAsync(string connectionString, string error, params string[] more)
    {
        var result = await RunAsync(connectionString, more);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(result.Errors, Does.StartWith($"error: {error}").And.Contain("\n  → "));
            Assert.That(result.Output + result.Errors, Does.Not.Contain(Secret).And.Not.Contain(Server.Password));
            Assert.That(Folder, Does.Not.Exist);
        }
    }

    private Task<RunnerResult> RunAsync(string connectionString, params string[] more) => RunnerProcess.RunAsync(
        [
            "run", "--framework", "bare", "--transport", "postgresql", "--messages", "5",
            "--rounds", "1", "--warmup", "0", "--seed-rows", "0",
            "--postgresql", connectionString, "--out", Folder, .. more,
        ]);
}
