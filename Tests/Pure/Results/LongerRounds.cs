using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>Rounds that are to take a time at least.</summary>
[Parallelizable]
public sealed class LongerRounds
{
    private static readonly RoundLength Asked = new(10, []);

    // 10 s and a tenth more.
    [TestCase(10.0, 1, Description = "Long enough as it is.")]
    [TestCase(25, 1)]
    [TestCase(9.99, 2)]
    [TestCase(5.51, 2)]
    [TestCase(5.49, 3)]
    [TestCase(1.1, 10)]
    [TestCase(0.01, 1_100)]
    public void Have_the_multiple_that_takes_long_enough(double seconds, int multiple) =>
        Assert.That(Asked.MessagesAfter(100, Trial(100, seconds)), Is.EqualTo(100 * multiple));

    [Test]
    public void Have_the_asked_messages_after_a_trial_that_failed()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Asked.MessagesAfter(100, trial: null), Is.EqualTo(100));
            Assert.That(Asked.MessagesAfter(100, new Throughput([])), Is.EqualTo(100));
            Assert.That(Asked.MessagesAfter(1, new Throughput([0])), Is.EqualTo(1));
        }
    }

    [Test]
    public void Never_have_more_messages_than_can_be_counted() =>
        Assert.That(new RoundLength(3_600, []).MessagesAfter(1_000_000_000, new Throughput([0, 0.001])), Is.EqualTo(2_000_000_000));

    [TestCase(0, "at least 10.0 s: cells whose rounds would be shorter drain a multiple of the messages, chosen by a trial drain before the first round; " +
        "no trial was made")]
    [TestCase(1, "; 400 messages in 1 cell")]
    [TestCase(3, "; 400 messages in 1 cell, 800 messages in 2 cells")]
    public void Are_told_with_their_messages(int cells, string text)
    {
        var tried = new[] { ("dtc-off", 800), ("full-dtc", 400), ("shared", 800) }.OrderBy(cell => cell.Item2).Take(cells);

        Assert.That(
            (Asked with { Cells = [.. tried.Select(cell => new CellMessages(InventedRun.Cell(cell.Item1), cell.Item2))] }).Text(), Does.EndWith(text));
    }

    [Test]
    public void Are_told_if_they_were_shorter_after_all()
    {
        RoundDocument[] rounds = [InventedRun.Round("full-dtc", 1, seconds: 10), InventedRun.Round("full-dtc", 2, seconds: 9.5)];
        var run = new RecordedRun(InventedRun.Document with { Cells = [rounds[0].Cell], AtLeast = Asked }, rounds);

        Assert.That(
            RoundNotes.Of(run),
            Is.EqualTo(["bare/postgresql/full-dtc/ado, round 2: 9.50 s long, and 10.0 s were asked for: the trial drain was slower."]));
    }

    private static Throughput Trial(int messages, double seconds) =>
        new([.. Enumerable.Range(1, messages).Select(message => seconds * 1_000 * message / messages)]);
}
