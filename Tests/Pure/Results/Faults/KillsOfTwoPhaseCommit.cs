using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Faults;

public sealed class KillsOfTwoPhaseCommit
{
    [Test]
    public void Are_counted_by_the_window_that_they_met()
    {
        var windows = WindowsMet.None
            .With(isBeforePrepare: true, isPrepared: false, isDecided: false)
            .With(isBeforePrepare: true, isPrepared: false, isDecided: false)
            .With(isBeforePrepare: true, isPrepared: false, isDecided: false)
            .With(isBeforePrepare: false, isPrepared: true, isDecided: false)
            .With(isBeforePrepare: false, isPrepared: true, isDecided: false)
            .With(isBeforePrepare: false, isPrepared: false, isDecided: true);

        Assert.That(windows, Is.EqualTo(new WindowsMet(BeforePrepare: 3, Prepared: 2, Decided: 1, NoneOpen: 0)));
    }

    [Test]
    public void Are_counted_in_both_windows_where_two_workers_were_in_two() => Assert.That(
        WindowsMet.None.With(isBeforePrepare: true, isPrepared: false, isDecided: true),
        Is.EqualTo(new WindowsMet(BeforePrepare: 1, Prepared: 0, Decided: 1, NoneOpen: 0)));

    [Test]
    public void Are_counted_where_they_met_none() => Assert.That(
        WindowsMet.None.With(isBeforePrepare: false, isPrepared: false, isDecided: false),
        Is.EqualTo(new WindowsMet(BeforePrepare: 0, Prepared: 0, Decided: 0, NoneOpen: 1)));

    [TestCase(ExpectedResult = false)]
    [TestCase("a1 started", ExpectedResult = true)]
    [TestCase("a1 started", "a1 returned", ExpectedResult = false)]
    [TestCase("a1 started", "a1 returned", "b1 started", ExpectedResult = true)]
    [TestCase("a1 started", "a2 started", "a2 returned", ExpectedResult = false, Description = "the first attempt failed")]
    [TestCase("a1 started", "b1 started", "b1 returned", ExpectedResult = true, Description = "another message's attempt has returned")]
    [TestCase("a1 started long before", "b1 started", "b1 returned", ExpectedResult = false, Description = "the kill before left it open")]
    [TestCase("a1 returned", ExpectedResult = false, Description = "it started before the lines that were read")]
    public bool Met_a_handler_if_the_last_attempt_of_the_killed_process_had_not_returned(params string[] lines) =>
        WindowsMet.IsAHandlerOpen(lines.Select(LineOf), Before);

    private static readonly DateTimeOffset Before = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <param name="text">The message's letter, the attempt's number and its point.</param>
    private static AttemptLine LineOf(string text) => new(
        new Guid(text[0], 0, 0, new byte[8]), new Guid(text[0], (short)text[1], 0, new byte[8]),
        text.Contains("returned", StringComparison.Ordinal) ? AttemptPoint.Returned : AttemptPoint.Started, [])
    {
        At = Before.AddSeconds(text.EndsWith("long before", StringComparison.Ordinal) ? -1 : 1),
    };

    [Test]
    public void Are_told_window_by_window() => Assert.That(
        new WindowsMet(BeforePrepare: 4, Prepared: 3, Decided: 2, NoneOpen: 1).ToString(),
        Is.EqualTo("windows met (a kill can meet one for each worker): 4 before prepare, 3 prepared, 2 decided (second phase outstanding), 1 none open"));
}
