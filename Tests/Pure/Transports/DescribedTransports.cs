using System.Text.RegularExpressions;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Transports;

/// <summary>What the runner knows of the transports, and that it knows it in one place.</summary>
public sealed partial class DescribedTransports
{
    private static IEnumerable<string> WithAServer =>
        Transport.All.Where(transport => transport.Server is not null).Select(transport => transport.Name);

    [Test]
    public void Have_each_transport_of_the_cells() => Assert.That(
        Transport.All.Select(transport => transport.Name), Is.EquivalentTo(Cell.All.Select(cell => cell.Kind.Transport).Distinct()));

    [Test]
    public void Agree_with_the_endpoints_on_where_widgets_are()
    {
        foreach (var cell in Cell.All.Where(cell => cell.Support.IsSupported))
        {
            var isInPostgreSql = Transport.Of(cell).Widgets == Transport.Named(TransportName.PostgreSql);
            Assert.That(cell.Kind.WidgetServer == WidgetServer.PostgreSql, Is.EqualTo(isInPostgreSql), cell.Name);
        }
    }

    [Test]
    public void Need_their_own_server_and_that_of_the_widgets() => Assert.That(
        Transport.NeededBy([Transport.Named(TransportName.RabbitMq)]).Select(transport => transport.Name),
        Is.EqualTo([TransportName.PostgreSql, TransportName.RabbitMq]));

    /// <summary>Whoever starts the servers of the supported ones, as <c>compare</c> does, starts none that nobody can reach.</summary>
    [Test]
    public void Are_supported_only_with_their_driver()
    {
        var sqlServer = Transport.Named(TransportName.SqlServer);
        var arguments = TransportArguments.None.With(sqlServer.Server!, "Server=127.0.0.1,1");

        Assert.That(
            sqlServer.SupportHere(arguments).IsSupported,
            Is.EqualTo(Cell.All.Any(cell => cell.Kind.Transport == sqlServer.Name && cell.Support.IsSupported)));
    }

    [TestCaseSource(nameof(WithAServer))]
    public void Find_their_facts_again_in_a_document(string name)
    {
        var transport = Transport.Named(name);
        var nothing = new Dictionary<string, string>();
        var blank = InventedRun.Document with { Server = nothing, Broker = nothing, SqlServer = null };
        var whose = transport.Name == TransportName.RabbitMq ? "broker" : "server";

        var described = transport.DescribeAsOwn(
            transport.Describe(blank, new Dictionary<string, string> { [whose] = $"{transport.Title}, the user's", ["version"] = "1" }));

        Assert.That(
            RunFacts.Of(new RecordedRun(described, [])).Select(fact => fact.Fact),
            Has.One.EqualTo($"{whose} {transport.Title}, the kit's own, on this machine, version 1"));
    }

    [Test]
    public void A_server_without_a_place_of_its_own_in_the_document_is_there_by_its_name()
    {
        var pigeons = new Dictionary<string, string> { ["wings"] = "2" };
        var described = InventedRun.Document with
        {
            Servers = new Dictionary<string, IReadOnlyDictionary<string, string>> { ["Carrier pigeons"] = pigeons },
        };

        Assert.That(RunFacts.Of(new RecordedRun(described, [])), Has.One.EqualTo(("Carrier pigeons", "wings 2")));
    }

    /// <summary>Whoever needs to know something of a transport asks its descriptor.</summary>
    [Test]
    public void Are_named_by_nothing_else_in_the_runner()
    {
        var runner = Path.Combine(RepositoryFiles.Root, "Runner");
        var named = from file in Directory.EnumerateFiles(runner, "*.cs", SearchOption.AllDirectories)
                    let path = Path.GetRelativePath(runner, file).Replace('\\', '/')
                    where !path.StartsWith("Stage/Transports/", StringComparison.Ordinal) && !path.StartsWith("obj/", StringComparison.Ordinal)
                        && !path.StartsWith("bin/", StringComparison.Ordinal)
                    where NameOfATransport().IsMatch(File.ReadAllText(file))
                    select path;

        Assert.That(
            named, Is.Empty,
            "These files of the runner name a transport. What they need of it is a member of Transport, in Runner/Stage/Transports.");
    }

    [GeneratedRegex(@"TransportName\.|#if KIT_SQLCLIENT", RegexOptions.None, matchTimeoutMilliseconds: 1000)]
    private static partial Regex NameOfATransport();
}
