using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>Proof files of the sample, met around its commit and its receive. The sample is the one that was built with the tests.</summary>
[Parallelizable]
public sealed class SampleOrders
{
    [Test]
    public async Task Check_crashes_nothing_and_lists_the_requests_of_a_handling()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        var file = folder.Below("shared.proof.json");
        await File.WriteAllTextAsync(file, TextOf("shared"));

        var result = await RunnerProcess.ProveAsync("check", file);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(result.Output, Does.StartWith($"{file} runs: dotnet ").And.Contain("shared fits its file.").And.Contain(". COMMIT ("));
        Assert.That(result.Output, Does.Contain("It has exactly-once, as the mode shared: one commit has the receive and every effect."));
        Assert.That(result.Output.Trim(), Does.EndWith($"Promised is exactly-once. To crash it: kit-prove {file}"));
        Assert.That(Directory.GetFileSystemEntries(folder.Path), Is.EqualTo([file]), "nothing is stored");
    }

    [Test]
    [Exhaustive]
    public async Task On_MassTransit_an_order_is_placed_twice_between_its_commit_and_the_acknowledgement()
    {
        RabbitMqServer.IgnoreWithoutPrograms();

        var results = await MeetAsync("masstransit.dtc-off", point => point.Request.Text is "COMMIT" or "basic.ack");

        Assert.That(results.ClassOf("COMMIT", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Once));
        Assert.That(results.ClassOf("COMMIT", PointWay.Killed), Is.EqualTo(DeliveryClass.Duplicated));
        Assert.That(results.ClassOf("basic.ack", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Duplicated));
        Assert.That(results.ClassOf("basic.ack", PointWay.Killed), Is.EqualTo(DeliveryClass.Once));
        Assert.That(results.All.Select(result => result.Verdict), Is.All.EqualTo(FaultVerdict.Kept));
    }

    [Test]
    [Exhaustive]
    public async Task On_Rebus_an_order_in_the_receives_transaction_is_placed_once()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();

        var results = await MeetAsync("rebus.shared", point => point.Request.Text is "COMMIT");

        Assert.That(results.All.Select(result => result.Class), Is.Not.Empty.And.All.EqualTo(DeliveryClass.Once));
    }

    [Test]
    [Exhaustive]
    public async Task On_Wolverine_an_order_is_placed_once_after_a_kill_and_twice_if_the_answer_to_its_commit_is_lost()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();

        var results = await MeetAsync(
            "wolverine.outbox", point => point.Request.Text is "COMMIT", PointWay.NeverSent, PointWay.Killed, PointWay.Cut);

        var (cut, killed) = (results.All.Where(result => result.Point.Way == PointWay.Cut), results.All.Where(result => result.Point.Way != PointWay.Cut));
        Assert.That(killed.Select(result => result.Class), Is.Not.Empty.And.All.EqualTo(DeliveryClass.Once));
        Assert.That(cut.Select(result => result.Class), Has.One.EqualTo(DeliveryClass.Duplicated));
    }

#if KIT_NSERVICEBUS
    [Test]
    public async Task On_NServiceBus_an_order_in_the_receives_transaction_is_placed_once()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();

        var results = await MeetAsync("nservicebus.shared", point => point.Request.Text is "COMMIT");

        Assert.That(results.All.Select(result => result.Class), Is.Not.Empty.And.All.EqualTo(DeliveryClass.Once));
    }
#else
    [Test]
    public async Task A_sample_that_was_built_without_NServiceBus_says_so()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        var file = folder.Below("nservicebus.shared.proof.json");
        await File.WriteAllTextAsync(file, TextOf("nservicebus.shared"));

        var result = await RunnerProcess.ProveAsync(file, "--out", folder.Below("out"));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage), result.Output + result.Errors);
        Assert.That(result.Errors, Does.Contain("the application ended with exit code 2").And.Contain("The framework 'nservicebus' is not built in: "));
    }
#endif

    private static Task<MetPoints> MeetAsync(string name, Func<CrashPoint, bool> chosen) =>
        MeetAsync(name, chosen, PointWay.NeverSent, PointWay.Killed);

    private static async Task<MetPoints> MeetAsync(string name, Func<CrashPoint, bool> chosen, params IReadOnlyList<PointWay> ways)
    {
        await using var shared = new SharedProofServers();
        return await MetPoints.OfAsync(
            shared, ProofFileReader.Parse(FileOf(name), TextOf(name)), chosen, ways);
    }

    private static string FileOf(string name) => Path.Combine(RepositoryFiles.Root, "Samples", "Orders", $"{name}{ProofFile.Suffix}");

    private static string TextOf(string name) => File.ReadAllText(FileOf(name)).Replace(
        "bin/Release/net10.0/Orders.dll", Path.Combine(AppContext.BaseDirectory, "Orders.dll").Replace('\\', '/'), StringComparison.Ordinal);
}
