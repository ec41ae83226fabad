using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Choosing;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;
using Kit.Runner.Stage;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Choosing;

/// <summary>What <c>choose</c> prints.</summary>
public sealed class AdviceInWords
{
    private const string NoExperiment = "No experiment of the kit can refute this advice: ";

    private static readonly InventedKind MeasuredKind = new("bare", TransportName.PostgreSql, _ => Support.Yes);

    private static readonly HandlerNeeds Once = new(RowsPlace.SameServer, Tolerance.Once, SeesRows: false);

    private static (string Folder, RecordedRun Run) Mine => ("results/mine", InventedRun.Recorded);

    [Test]
    public void Two_databases_of_a_SQL_Server_take_the_promoted_mode()
    {
        var text = TextOf(InventedKind.OnWindows, Once);

        Assert.That(text, Does.Contain("full-dtc-promoted, not run yet"));
        Assert.That(text, Does.Contain("full-dtc fits better, but cannot run there: two databases have two connection strings, "));
    }

    /// <summary>One local transaction covers both, and its rows are visible with its commit.</summary>
    [TestCase(false)]
    [TestCase(true)]
    public void One_database_of_a_SQL_Server_takes_full_dtc(bool seesRows) => Assert.That(
        TextOf(InventedKind.OnWindows, Once with { Rows = RowsPlace.SameDatabase, SeesRows = seesRows }), Does.Contain("full-dtc, not run yet"));

    [TestCase(Tolerance.Once)]
    [TestCase(Tolerance.Loss)]
    public void A_framework_that_this_build_lacks_is_not_called_one_without_a_mode(Tolerance tolerance)
    {
        var missing = Support.Missing("the package feed has no Invented 1.x");

        var text = TextOf(new("invented", TransportName.PostgreSql, _ => missing, missing), Once with { Tolerance = tolerance });

        Assert.That(text, Does.Contain("postgresql  not in this build  –").And.Not.Contain("no mode").And.Not.Contain("--tolerates twice"));
        Assert.That(text, Does.Contain(
            "invented on postgresql is not in this build: the package feed has no Invented 1.x. So this build cannot say"));
    }

    [Test]
    public void A_mode_that_needs_what_this_build_or_machine_lacks_is_named_all_the_same()
    {
        var kind = new InventedKind(
            "invented",
            TransportName.RabbitMq,
            mode => mode == TransactionMode.Outbox ? Support.Missing("the package feed has no Outbox 1.x") : Support.No("the test said so"));

        var text = TextOf(kind, Once);

        Assert.That(text, Does.Contain("outbox, cannot run here").And.Contain("outbox cannot run here: the package feed has no Outbox 1.x."));
        Assert.That(text, Does.Contain($"{NoExperiment}the package feed has no Outbox 1.x.").And.Not.Contain("./run.sh"));
        Assert.That(text, Does.Contain("invented.Use(TransactionMode.Outbox);"));
    }

    [Test]
    public void An_experiment_is_named_only_where_there_is_one()
    {
        var onSqlServer = TextOf(InventedKind.OnWindows, Once);
        var onPostgreSql = TextOf(InventedKind.Supporting(TransportName.PostgreSql, TransactionMode.FullDtc), Once);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(onSqlServer, Does.Contain($"{NoExperiment}faults are injected into connections to PostgreSQL and RabbitMQ."));
            Assert.That(onSqlServer, Does.Not.Contain("./run.sh faults"));
            Assert.That(onSqlServer, Does.Contain("--mode full-dtc-promoted,dtc-off --sqlserver \"<connection string>\""), "a server that must be named");
            Assert.That(onPostgreSql, Does.Not.Contain(NoExperiment).And.Contain("./run.sh faults --storm --framework invented"));
            Assert.That(onPostgreSql, Does.Contain("--mode full-dtc,dtc-off\n"), "a server that the kit starts");
        }
    }

    [Test]
    public void A_transport_that_nobody_has_run_is_marked_and_the_others_are_not()
    {
        const string warning = "Nobody has run the cells on SQL Server yet: the promise is untested there.";

        Assert.That(TextOf(InventedKind.OnWindows, Once), Does.Contain(warning).And.Contain(", not run yet"));
        Assert.That(
            TextOf(InventedKind.Supporting(TransportName.PostgreSql, TransactionMode.FullDtc), Once),
            Does.Not.Contain("Nobody has run").And.Not.Contain("not run yet"));
    }

    [Test]
    public void The_code_is_that_of_the_framework_whatever_it_is() => Assert.That(
        TextOf(InventedKind.Supporting(TransportName.PostgreSql, TransactionMode.FullDtc), Once), Does.Contain("  invented.Use(TransactionMode.FullDtc);\n"));

    [Test]
    public void Every_framework_gives_code_that_names_the_mode()
    {
        foreach (var cell in Cell.All.Where(cell => cell.Support.IsSupported && cell.IsPlain))
        {
            var mode = ModeInCode.Of(cell.Mode);
            Assert.That(string.Join('\n', cell.Kind.CodeOf(cell.Mode)), Does.Contain($"({mode}").Or.Contain($", {mode}"));
        }
    }

    /// <summary>Over two it would be promoted.</summary>
    [Test]
    public void Full_dtc_on_SQL_Server_is_given_one_connection_string()
    {
        var kinds = EndpointKinds.All.Where(kind => kind.Transport == TransportName.SqlServer).ToList();
        if (kinds.TrueForAll(kind => !kind.InBuild.IsSupported))
            Assert.Ignore(kinds[0].InBuild.Because!);

        foreach (var kind in kinds.Where(kind => kind.InBuild.IsSupported))
            Assert.That(string.Join('\n', kind.CodeOf(TransactionMode.FullDtc)), Does.Contain("(data)"), kind.Framework);
    }

    /// <summary>The printed name compiles.</summary>
    [Test]
    public void Modes_are_written_as_their_properties_are_named()
    {
        foreach (var mode in TransactionMode.All)
            Assert.That(typeof(TransactionMode).GetProperty(ModeInCode.Of(mode)["TransactionMode.".Length..])?.GetValue(null), Is.SameAs(mode), mode.Name);
    }

    [Test]
    public void Rates_are_those_of_the_handlers_that_the_run_has()
    {
        var lines = TextOf(MeasuredKind, Once, measured: Mine).Split('\n');
        var at = Array.IndexOf(lines, "Measured in results/mine:");
        var rate = CellRate.Of(InventedRun.Recorded, InventedRun.Cell("full-dtc")).Single();
        Assert.That(lines[at + 1], Does.Match("the handler +msg/s \\(95 % interval\\) +ratio to transactions-off"));
        Assert.That(lines[at + 2], Does.Match($"full-dtc +insert +{Escaped(rate.PerSecond)} +{Escaped(rate.ToTransactionsOff!)}"));
        Assert.That(lines[at + 3], Is.Empty, "the run has no other handler");
    }

    /// <summary>The advice, the code and the experiments name the choice of the framework, and so does the run.</summary>
    [Test]
    public void Rates_are_those_of_the_cell_that_the_advice_names()
    {
        List<Cell> cells = [.. Cell.All.Where(cell => cell.Kind is { Framework: "rebus", Transport: TransportName.PostgreSql })];
        var measured = cells.First(cell => cell.Mode == TransactionMode.Shared && cell.Access.Name == AccessLibrary.Baseline) with
        {
            DeadLettersNext = true,
            Scenario = Scenario.InsertAndSend,
        };
        var run = new RecordedRun(
            InventedRun.Document, [InventedRun.Round("shared", 1, seconds: 2) with { Cell = Provenance.NameOf(measured) }]);
        using var output = new StringWriter { NewLine = "\n" };

        new AdviceText(("results/mine", run), new HandlerLoad(), output).Write(Advice.For(cells, Once with { Rows = RowsPlace.SameDatabase }));

        Assert.That($"{output}", Does.Match("rebus +postgresql +shared, next-delivery +insert-and-send +200").And.Not.Contain("not in the run"));
    }

    [Test]
    public void Rates_have_the_warnings_of_their_run()
    {
        var disk = new DiskFacts("/dev/shm", "tmpfs", IsInMemory: true, new FlushTime(0.001, 0.001, 100));
        var run = new RecordedRun(InventedRun.Document with { Disk = disk, Ending = RunEnding.Stopped("Ctrl+C") }, InventedRun.Rounds);

        Assert.That(
            TextOf(MeasuredKind, Once, measured: ("results/mine", run)),
            Does.Contain("Not durable: ").And.Contain("The run is not complete: stopped: Ctrl+C.").And.Contain("Noisy, and counted: 1 of 17 rounds, in "));
    }

    /// <summary>Far below the interval, far above it, and the mean, which it covers.</summary>
    [TestCase(0.1, "yes")]
    [TestCase(10, "no")]
    [TestCase(1, "not sure")]
    public void A_rate_is_compared_with_the_interval(double share, string reached)
    {
        var rate = CellRate.Of(InventedRun.Recorded, InventedRun.Cell("full-dtc")).Single().Rate;

        var text = TextOf(MeasuredKind, Once, new HandlerLoad(PerSecond: rate.Mean * share), Mine);

        Assert.That(text, Does.Match($" a drain reaches [0-9.,]+/s\n.* {reached} *\n").And.Contain(CellRate.OfArrivals)
            .And.Contain("./run.sh load --framework bare --transport postgresql --mode full-dtc --rate "));
    }

    [Test]
    public void Calls_outside_are_said_to_be_repeated()
    {
        var kind = InventedKind.Supporting(TransportName.PostgreSql, TransactionMode.FullDtc);

        Assert.That(TextOf(kind, Once, new HandlerLoad(CallsOutside: true)), Does.Contain(NeedsInWords.CallsOutside));
        Assert.That(TextOf(kind, Once), Does.Not.Contain("another system"));
    }

    [TestCase("choose-full.txt", "bare", "postgresql")]
    [TestCase("choose-none.txt", "masstransit", "rabbitmq")]
    [TestCase("choose-table.txt", "bare,masstransit", "postgresql,rabbitmq")]
    public async Task Is_approved(string file, string framework, string transport)
    {
        var result = await RunnerInProcess.RunAsync(
            "choose", "--rows", "same-server", "--tolerates", "once", "--sees-rows", "--framework", framework, "--transport", transport);

        Approval.Verify(file, result.Output);
    }

    private static string TextOf(InventedKind kind, HandlerNeeds needs, HandlerLoad? load = null, (string Folder, RecordedRun Run)? measured = null)
    {
        using var output = new StringWriter { NewLine = "\n" };
        new AdviceText(measured, load ?? new HandlerLoad(), output).Write(Advice.For(kind.Cells, needs));
        return output.ToString();
    }

    private static string Escaped(string text) => System.Text.RegularExpressions.Regex.Escape(text);
}
