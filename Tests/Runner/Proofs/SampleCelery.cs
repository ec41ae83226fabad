using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Results.Points;
using Kit.Runner.Servers;

namespace Kit.Tests.Proofs;

/// <summary>The sample on Celery, which acknowledges a task before it is executed, or after it has ended in any way.</summary>
[Parallelizable]
[Exhaustive]
public sealed class SampleCelery
{
    private readonly SharedProofServers shared = new();

    [OneTimeTearDown]
    public ValueTask StopServersAsync() => shared.DisposeAsync();

    [Test]
    public async Task A_kill_after_an_early_acknowledgement_loses_the_task() => Assert.That(
        await ClassAtAsync("acks-early", "basic.ack", PointWay.Killed), Is.EqualTo(DeliveryClass.Lost));

    [Test]
    public async Task A_kill_before_a_late_acknowledgement_doubles_the_row() => Assert.That(
        await ClassAtAsync("acks-late", "basic.ack", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Duplicated));

    /// <summary>A task that fails is acknowledged, too, unless it says how often it is to be tried.</summary>
    [Test]
    public async Task A_cut_connection_to_the_database_loses_the_task() => Assert.That(
        await ClassAtAsync("acks-late", "INSERT INTO placed_order", PointWay.CutBefore), Is.EqualTo(DeliveryClass.Lost));

    private async Task<DeliveryClass?> ClassAtAsync(string way, string request, PointWay at)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        RabbitMqServer.IgnoreWithoutPrograms();
        var file = ProofFileReader.Read(Path.Combine(RepositoryFiles.Root, "Samples", "Celery", $"{way}{ProofFile.Suffix}"));
        // Debian's, also where another one is first on the search path.
        file = file with { Start = file.Start with { Command = ["/usr/bin/python3", .. file.Start.Command.Skip(1)] } };
        if (!(await new ExternalProgram("/usr/bin/python3").RunAsync(["-c", "import celery, psycopg2"], CancellationToken.None)).Succeeded)
            Assert.Ignore("Debian's Python lacks the libraries of the sample: apt-get install python3-celery python3-psycopg2");

        var results = await MetPoints.OfAsync(shared, file, point => point.Request.Text.StartsWith(request, StringComparison.Ordinal), at);
        return results.All.Single().Class;
    }
}
