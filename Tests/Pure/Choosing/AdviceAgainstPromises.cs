using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Choosing;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Choosing;

/// <summary><c>choose</c>, for every answer to its questions.</summary>
public sealed class AdviceAgainstPromises
{
    private static IEnumerable<HandlerNeeds> Needs =>
        from rows in Enum.GetValues<RowsPlace>()
        from tolerance in Enum.GetValues<Tolerance>()
        from seesRows in new[] { false, true }
        select new HandlerNeeds(rows, tolerance, seesRows);

    private static IEnumerable<HandlerNeeds> NeedsOfTwoDatabases => Needs.Where(needs => needs.Rows != RowsPlace.SameDatabase);

    private static IEnumerable<HandlerNeeds> NeedsToSeeRows => Needs.Where(needs => needs.SeesRows);

    /// <summary>All, SQL Server on Windows with its driver, and a framework on PostgreSQL whose two-phase commit cannot wait.</summary>
    private static IEnumerable<Cell> Cells =>
    [
        .. Cell.All, .. InventedKind.OnWindows.Cells,
        .. InventedKind.Supporting(TransportName.PostgreSql, TransactionMode.FullDtc, TransactionMode.DtcOff).Cells,
    ];

    [TestCaseSource(nameof(Needs))]
    public void What_it_names_promises_no_more_harm_than_the_handler_bears(HandlerNeeds needs)
    {
        foreach (var advice in Advice.For(Cells, needs).Where(advice => advice.Cell is not null))
            Assert.That(advice.AfterCrashes, Is.SubsetOf(ModeChoice.Bearable(needs.Tolerance)), $"{advice.Cell}");
    }

    /// <summary>A package or a system for it can be missing.</summary>
    [TestCaseSource(nameof(Needs))]
    public void What_it_names_can_run_and_what_comes_before_it_cannot(HandlerNeeds needs)
    {
        foreach (var advice in Advice.For(Cells, needs).Where(advice => advice.Kind.InBuild.IsSupported))
        {
            Assert.That(advice.Cell?.Support is { IsSupported: false, IsMissing: false }, Is.False);
            Assert.That(
                advice.LeftOut.Select(left => left.Mode).Concat(advice.Cell is { } cell ? [cell.Mode] : []),
                Is.EqualTo(ModeChoice.Of(needs).Take(advice.LeftOut.Count + (advice.Cell is null ? 0 : 1))));
        }
    }

    /// <summary>Over two connection strings the transaction of full-dtc on SQL Server is another mode's.</summary>
    [TestCaseSource(nameof(NeedsOfTwoDatabases))]
    public void Full_dtc_is_never_named_for_two_databases_of_a_SQL_Server(HandlerNeeds needs)
    {
        var advices = Advice.For(Cells, needs).Where(advice => advice.Transport.CanPromote).ToList();

        Assert.That(advices, Is.Not.Empty);
        foreach (var advice in advices)
            Assert.That(advice.Cell?.Mode, Is.Not.EqualTo(TransactionMode.FullDtc), advice.Kind.Framework);
    }

    [Test]
    public void Full_dtc_on_two_PostgreSql_servers_is_named_where_it_runs_on_two()
    {
        var advised = Advice.For(Cell.All, new HandlerNeeds(RowsPlace.AnotherServer, Tolerance.Once, SeesRows: false))
            .Where(advice => advice.Kind.Framework == "bare")
            .ToDictionary(advice => advice.Kind.Transport, advice => advice.Cell?.Mode);

        Assert.That(advised[TransportName.PostgreSqlApart], Is.EqualTo(TransactionMode.FullDtc));
        Assert.That(advised[TransportName.PostgreSql], Is.EqualTo(TransactionMode.Outbox), "its cells have one server");
    }

    /// <summary>On PostgreSQL the second phase of full-dtc runs in the background.</summary>
    [TestCaseSource(nameof(NeedsToSeeRows))]
    public void Full_dtc_on_PostgreSql_is_never_named_if_the_rows_must_be_seen(HandlerNeeds needs)
    {
        var advices = Advice.For(Cells, needs).Where(advice => advice.Kind.Transport == TransportName.PostgreSql).ToList();

        Assert.That(advices, Is.Not.Empty);
        foreach (var advice in advices)
            Assert.That(advice.Cell?.Mode, Is.Not.EqualTo(TransactionMode.FullDtc), advice.Kind.Framework);
    }

    /// <summary>So its way out, an idempotent handler, is one.</summary>
    [TestCaseSource(nameof(Needs))]
    public void Only_a_handler_that_bears_nothing_gets_no_mode(HandlerNeeds needs)
    {
        foreach (var advice in Advice.For(Cells, needs).Where(advice => advice.Kind.InBuild.IsSupported && advice.Cell is null))
            Assert.That(needs.Tolerance, Is.EqualTo(Tolerance.Once), advice.Kind.Framework);
    }

    /// <summary>Only the mode that is there for comparison is never named.</summary>
    [Test]
    public void Every_other_mode_is_the_answer_to_something() => Assert.That(
        Needs.SelectMany(ModeChoice.Of).Distinct(), Is.EquivalentTo(TransactionMode.All.Where(mode => mode != TransactionMode.NpgsqlScope)));

    [TestCase("same-database", "once", "shared")]
    [TestCase("same-server", "once", "full-dtc")]
    [TestCase("elsewhere", "once", "outbox")]
    [TestCase("elsewhere", "twice", "dtc-off")]
    [TestCase("elsewhere", "twice-one-statement", "scope-off")]
    [TestCase("elsewhere", "loss", "transactions-off")]
    public async Task The_bare_endpoint_on_PostgreSql_is_told(string rows, string tolerates, string mode)
    {
        var result = await RunnerInProcess.RunAsync(
            "choose", "--rows", rows, "--tolerates", tolerates, "--framework", "bare", "--transport", "postgresql");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(result.Output, Does.Contain($"{mode}: {TransactionMode.Parse(mode).Promise}").And.Contain($"--mode {mode}"));
    }

    [Test]
    public async Task Where_no_mode_is_enough_the_way_out_is_said()
    {
        var result = await RunnerInProcess.RunAsync(
            "choose", "--rows", "elsewhere", "--tolerates", "once", "--framework", "masstransit", "--transport", "rabbitmq");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Assert.That(result.Output, Does.Contain("no mode").And.Contain("outbox cannot run there: ").And.Contain("--tolerates twice"));
    }
}
