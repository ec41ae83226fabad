using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Published;
using Kit.Tests.Results.Loads;

namespace Kit.Tests.Results;

/// <summary>What a published table and ours have in common.</summary>
[Parallelizable]
public sealed class RepeatedExperiments
{
    [TestCase(1.6, new[] { 1.5, 1.6, 1.7, 1.6, 1.6 }, ExpectedResult = Agreement.Agrees)]
    [TestCase(1.6, new[] { 3.1, 3.0, 3.2, 3.1, 3.0 }, ExpectedResult = Agreement.SameDirection)]
    [TestCase(0.6, new[] { 0.4, 0.41, 0.4, 0.39, 0.4 }, ExpectedResult = Agreement.SameDirection)]
    [TestCase(1.6, new[] { 0.5, 0.5, 0.6, 0.5, 0.5 }, ExpectedResult = Agreement.Opposite)]
    [TestCase(1.6, new[] { 0.9, 1.1, 1.0, 1.0, 1.1 }, ExpectedResult = Agreement.NoClearDifference)]
    [TestCase(1.5, new[] { 0.4, 2.4, 0.7, 1.9, 1.0 }, ExpectedResult = Agreement.NoClearDifference, Description = "Ours covers 0.5, 1 and 1.5.")]
    [TestCase(1.01, new[] { 0.4, 2.4, 0.7, 1.9, 1.0 }, ExpectedResult = Agreement.Agrees)]
    [TestCase(1.6, new[] { 1.6, 1.6 }, ExpectedResult = Agreement.TooFewRounds)]
    [TestCase(1.6, new double[0], ExpectedResult = Agreement.NotMeasured)]
    public Agreement A_ratio_is_judged_by_our_interval(double published, double[] ours) =>
        new RepeatedRow(Row, published, 500, RateRatio.OfPairs([.. ours.Select(ratio => (ratio, 1d))])).Agreement;

    [Test]
    public void The_base_is_no_finding() =>
        Assert.That(new RepeatedRow(Row, PublishedRatio: 1, 500, Ratio: null) { IsBase = true }.Agreement, Is.EqualTo(Agreement.Base));

    [Test]
    public void A_row_as_fast_as_the_base_is_not_the_base()
    {
        Assert.That(new RepeatedRow(Row, PublishedRatio: 1, 500, Ratio: null).Agreement, Is.EqualTo(Agreement.NotMeasured));
        Assert.That(A_ratio_is_judged_by_our_interval(1, [1.5, 1.6, 1.7, 1.6, 1.6]), Is.EqualTo(Agreement.Opposite));
    }

    [Test]
    public void What_is_no_number_is_refused() =>
        Assert.That(() => A_ratio_is_judged_by_our_interval(double.NaN, [1.5, 1.6, 1.7, 1.6, 1.6]), Throws.InvalidOperationException);

    [TestCase(2.0, 2.4, ExpectedResult = Agreement.Close)]
    [TestCase(2.0, 2.6, ExpectedResult = Agreement.SameDirection)]
    [TestCase(0.5, 0.3, ExpectedResult = Agreement.SameDirection)]
    [TestCase(2.0, 0.5, ExpectedResult = Agreement.Opposite)]
    [TestCase(0.5, 2.0, ExpectedResult = Agreement.Opposite)]
    [TestCase(1.02, 4.0, ExpectedResult = Agreement.OnlyOurs)]
    [TestCase(2.0, 1.05, ExpectedResult = Agreement.NoClearDifference)]
    [TestCase(2.0, null, ExpectedResult = Agreement.NotMeasured)]
    [TestCase(null, 2.0, ExpectedResult = Agreement.NotPublished)]
    public Agreement The_ratio_of_a_load_is_judged_without_an_interval(double? published, double? ours) =>
        new RepeatedLoad(Row, published, Load: null, ours).Agreement;

    [Test]
    public void Each_length_has_the_common_arguments_and_its_own()
    {
        var command = new PublishedCommand("drain", "run", Quick: "--quick", Scaled: "", Full: "--rounds 5");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(command.At(ExperimentLength.Quick), Is.EqualTo(["run", "--quick"]));
            Assert.That(command.At(ExperimentLength.Scaled), Is.EqualTo(["run"]));
            Assert.That(command.At(ExperimentLength.Full), Is.EqualTo(["run", "--rounds", "5"]));
            Assert.That(() => command.At((ExperimentLength)9), Throws.InvalidOperationException);
        }
    }

    [TestCase("nservicebus-2014", 31.2, 51, 50, 97.4)]
    [TestCase("neuron-pooling-2017", 51, 198, 1_037, 103, 4_008)]
    [TestCase("biztalk-dynamic-ports-2010", 4.68, 4.76, 9.22, 12.2, 9.51, 12.4, 21.9, 48.4)]
    [TestCase("neuron-topics-2011", 799, 711, 738, 4_128, 1_042, 1_633)]
    [TestCase("wso2-round-3-2008")]
    public void The_published_figures_are_those_of_the_paper(string name, params double[] rates) => Assert.That(
        PublishedExperiment.Find(name)!.Tables.SelectMany(table => table.Rows).Select(row => row.PerSecond).OfType<double>(), Is.EqualTo(rates));

    [Test]
    public void Each_has_a_name_of_its_own_and_each_table_its_base()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(PublishedExperiment.All.Select(one => one.Name), Is.Unique);
            foreach (var one in PublishedExperiment.All)
            {
                Assert.That(one.Commands.Select(command => command.Name), Is.Unique, one.Name);
                Assert.That(one.Commands.Select(command => command.At(ExperimentLength.Full)[0]).Distinct(), Is.SubsetOf(["run", "load"]), one.Name);
                foreach (var table in one.Tables)
                {
                    Assert.That(table.Rows.Count(row => row.IsBase), Is.EqualTo(1), one.Name);
                    Assert.That(table.Commands, Is.Not.Empty.And.SubsetOf(one.Commands.Select(command => command.Name)), one.Name);
                }
            }
        }
    }

    /// <summary>A longer load with more handlers has the same cell, because its number of handlers is no axis of that load.</summary>
    [Test]
    public void Two_loads_of_one_cell_are_told_apart_by_their_command()
    {
        var table = new PublishedTable([Row with { Users = 100, IsBase = true }], ["requests"]);
        var repetition = Repetition.Of(
        [
            new RepeatedCommand("requests", Run: null, LoadOf(sent: 755)),
            new RepeatedCommand("hours", Run: null, LoadOf(sent: 864)),
            new RepeatedCommand("original", Run: null, Load: null),
        ]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(repetition.Commands.Select(command => command.Name), Is.EqualTo(["requests", "hours"]));
            Assert.That(repetition.LoadOf(table, table.Base)?.Sent, Is.EqualTo(755));
            Assert.That(repetition.LoadOf(table with { Commands = ["hours"] }, table.Base)?.Sent, Is.EqualTo(864));
            Assert.That(repetition.LoadOf(table with { Commands = ["original"] }, table.Base), Is.Null);
        }
    }

    /// <summary>A load that lost messages is what an experiment on failures is about.</summary>
    [Test]
    public void A_load_that_is_not_valid_is_shown_and_not_compared()
    {
        var experiment = PublishedExperiment.Find("wso2-round-3-2008")!;
        var rows = experiment.Tables[0].Rows;
        var cell = new CellName(new[] { "framework", "transport", "mode", "access", "scenario", "size" }.Zip(rows[0].Cell.Split('/')));
        var repetition = Repetition.Of(
        [
            new RepeatedCommand(experiment.Commands[0].Name, Run: null, InventedLoads.Searched with
            {
                IsStopped = true,
                Results =
                [
                    InventedLoads.Good with { Cell = cell, Users = rows[0].Users, Rate = null, Reached = 900 },
                    InventedLoads.Good with
                    {
                        Cell = cell, Users = rows[1].Users, Rate = null, Reached = 700, Failed = 3, Outcome = RoundOutcome.Invalid(["messages lost: 3"]),
                        Accounts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Lost] = 3, [DeliveryClass.CleanError] = 0 },
                    },
                    InventedLoads.Good with { Cell = cell, Users = rows[2].Users, Rate = null, Sent = 2_186, Outcome = RoundOutcome.Error("it ended") },
                ],
            }),
        ]);

        var lines = ExperimentReport.LinesOf(experiment, repetition).ToList();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(lines, Has.One.Matches<string>(line => line!.StartsWith($"| {rows[0].Title} |", StringComparison.Ordinal) && line.Contains("| 900 |")));
            Assert.That(
                lines,
                Has.One.Matches<string>(line => line!.StartsWith($"| {rows[1].Title} |", StringComparison.Ordinal) && line.Contains("| \\< 0.1 % |")
                    && !line.Contains("700")));
            Assert.That(lines, Does.Contain($"- Not counted: {rows[1].Title}, INVALID: 6,000 messages sent, < 0.1 % failed (0 dead-lettered, 3 lost)."));
            Assert.That(lines, Does.Contain($"- Not counted: {rows[2].Title}, error: 2,186 messages sent, not known what became of them."));
            Assert.That(lines, Does.Contain("- The loads were not finished, so rows are missing."));
        }
    }

    [Test]
    public void A_folder_on_a_page_is_that_of_a_command()
    {
        var one = PublishedExperiment.Find("neuron-pooling-2017")!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(one.CommandIn("results/2026-neuron/hours").Name, Is.EqualTo("hours"));
            Assert.That(() => one.CommandIn("results/2026-neuron"), Throws.TypeOf<KitException>().With.Message.Contains("is not the folder of a command"));
            Assert.That(PublishedExperiment.Find("wso2-round-3-2008")!.CommandIn("results/2026-wso2").Name, Is.EqualTo("users"));
        }
    }

    private static LoadDocument LoadOf(int sent) => InventedLoads.Searched with
    {
        Results = [InventedLoads.Good with { Cell = InventedRun.Cell("dtc-off"), Users = 100, Rate = null, Sent = sent }],
    };

    private static readonly PublishedRow Row = new("DTC off", "bare/postgresql/dtc-off/ado", 51);
}
