using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Loads;
using Kit.Runner.Measuring;
using Kit.Runner.Options;
using Kit.Runner.Rounds;
using Kit.Runner.Terminal;

namespace Kit.Tests.Loading;

/// <summary>What a load is told before it begins: how much memory its messages need, and what it does not take.</summary>
[Parallelizable]
public sealed class NeedsOfALoad
{
    private static readonly TimeSpan Day = TimeSpan.FromHours(24);

    [TestCase(500, 60, ExpectedResult = null)]
    [TestCase(50, 30 * 60, ExpectedResult = null)]
    [TestCase(600, 30 * 60, ExpectedResult =
        "Memory: a load of 1,080,000 messages needs about 2.00 GB in the runner, which keeps each message until it is accounted for. " +
        "If this machine has less to spare, give a shorter --for or fewer messages a second.")]
    public string? A_long_one_is_warned_of(double rate, int seconds) => LoadMemory.WarningOf(PlanOf(new OpenLoad(rate), TimeSpan.FromSeconds(seconds)));

    [Test]
    public void A_search_is_not() =>
        Assert.That(LoadMemory.WarningOf(PlanOf(new OpenLoad(100_000), Day) with { LimitMilliseconds = 1_000 }), Is.Null);

    [Test]
    public void Users_send_no_more_than_their_pauses_allow()
    {
        var cell = Cell.Find("bare.postgresql.shared.ado")!;
        var users = new ClosedLoad(10, TimeSpan.FromMilliseconds(100), TimeSpan.Zero, TimeSpan.FromSeconds(30));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(LoadMemory.Of(cell, users, TimeSpan.FromSeconds(60))!.Value.Messages, Is.EqualTo(6_010));
            Assert.That(LoadMemory.Of(cell, users with { Think = TimeSpan.Zero }, Day), Is.Null, "nobody knows");
        }
    }

    [TestCase("bare.postgresql.shared.ado", ExpectedResult = 1_850)]
    [TestCase("bare.rabbitmq.dtc-off.ado.pass", ExpectedResult = 1_850)]
    [TestCase("bare.rabbitmq.dtc-off.ado.publish-20", ExpectedResult = 8_850)]
    [TestCase("bare.rabbitmq.dtc-off.ado.pass.51200B", ExpectedResult = 1_850, Description = "All messages share one text.")]
    public double Each_effect_needs_more(string cell) => LoadMemory.Of(Cell.Find(cell)!, new OpenLoad(1), TimeSpan.FromSeconds(1))!.Value.Bytes;

    /// <summary>Axes are refused as unknown: their names are no options of a load.</summary>
    [Test]
    public void Each_option_of_run_is_taken_or_refused_with_its_reason()
    {
        var load = new LoadCommand([]).Options.Select(option => option.Name).ToHashSet();

        Assert.That(
            new RunCommand([]).Options.Where(option => !option.Hidden).Select(option => option.Name)
                .Except(Axis.All.Select(axis => $"--{axis.Name}")).Except(load),
            Is.Empty);
    }

    [TestCase("--for 30m", ExpectedResult = 1_800)]
    [TestCase("--for 30min", ExpectedResult = 1_800)]
    [TestCase("--for 2h", ExpectedResult = 7_200)]
    [TestCase("--for 1500ms", ExpectedResult = 1.5)]
    public double? A_time_has_its_unit(string typed)
    {
        var option = NumberOption.Time("--for", "", TimeSpan.Zero, Day);
        var parsed = new RootCommand { option }.Parse(typed);

        Assert.That(parsed.Errors, Is.Empty);
        return parsed.GetValue(option)?.TotalSeconds;
    }

    [Test]
    public void Bytes_need_no_unit()
    {
        var filter = CellFilter.Shown(ofRounds: true).Single(axis => axis.Name == "size");
        var one = new CellFilter([filter], isMatrix: true, ofRounds: true);
        var command = new RootCommand();
        one.AddTo(command);

        Assert.That(one.Typed(command.Parse("--size 512,5120B,id-alone")), Is.EqualTo(["--size", "512B,5120B,id-alone"]));
    }

    private static LoadPlan PlanOf(LoadShape shape, TimeSpan length) => new(
        [Cell.Find("bare.postgresql.shared.ado")!], [shape], length, LimitMilliseconds: null, Concurrency: 2, SeedRows: 0, WarmUp: 1, Senders: 8, "", "");
}
