using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;
using Kit.Tests.Joining;
using Kit.Tests.Rounds;
using Npgsql;

namespace Kit.Tests.Exhaustive.Joining;

/// <summary>Two workers in network namespaces of their own: each reaches the server by an address that only it has a way to.</summary>
[Parallelizable]
public sealed class WorkersOnOtherMachines
{
    [Test]
    public async Task Both_handle_messages_and_one_whose_network_is_cut_makes_its_round_invalid()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var first = await OtherMachine.StartAsync(1);
        await using var second = await OtherMachine.StartAsync(2);
        using var parent = new TemporaryFolder();
        await using var own = await PrivatePostgreSql.StartAsync(parent.Path, CancellationToken.None);
        await new NamedServer(own.ConnectionString).ExecuteAsync(
            $"ALTER SYSTEM SET listen_addresses = '127.0.0.1,{first.ServerAddress},{second.ServerAddress}'");
        await File.AppendAllTextAsync(
            Path.Combine(own.DataFolder, "pg_hba.conf"),
            $"\nhost all all {first.Address}/32 scram-sha-256\nhost all all {second.Address}/32 scram-sha-256\n");
        await own.RestartAsync(CancellationToken.None);
        using var worker = Start(first, own);
        using var other = Start(second, own);
        var folder = Path.Combine(parent.Path, "run");
        using var runner = RunnerProcess.Start(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "shared", "--processes", "2", "--workers", "2", "--wait", "10s",
            "--messages", "2000", "--warmup", "200", "--seed-rows", "100", "--rounds", "2", "--no-repeat",
            "--postgresql", own.ConnectionString, "--out", folder);

        await runner.PrintedAsync("1 of 2: ");
        await second.CutAsync();
        var result = await runner.EndAsync();

        var rounds = RunFolder.Open(folder).Load().Rounds;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output + result.Errors);
            Assert.That(rounds.Select(round => round.Outcome.ToString()), Is.EqualTo(["valid", "INVALID"]), result.Output);
            Assert.That(rounds[0].HandledByEach, Has.Count.EqualTo(2).And.All.Positive);
            Assert.That(rounds[0].HandledByEach?.Sum(), Is.EqualTo(2_000));
            Assert.That(rounds[1].Outcome.Reasons.Single(), Does.Match("^worker [12] has vanished: no word from it for 10 s$"));
        }

        var work = await worker.EndAsync();
        Assert.That(work.ExitCode, Is.EqualTo(ExitCode.Success), work.Output + work.Errors);
    }

    private static RunnerProcess Start(OtherMachine machine, PrivatePostgreSql server)
    {
        var fromThere = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Host = machine.ServerAddress }.ConnectionString;
        return RunnerProcess.Start([], "ip", ["netns", "exec", machine.Name, RunnerProcess.ProgramPath, "worker", "--join", fromThere]);
    }
}
