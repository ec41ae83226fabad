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

    [Test]
    public void Are_told_window_by_window() => Assert.That(
        new WindowsMet(BeforePrepare: 4, Prepared: 3, Decided: 2, NoneOpen: 1).ToString(),
        Is.EqualTo("windows met (a kill can meet one for each worker): 4 before prepare, 3 prepared, 2 decided (second phase outstanding), 1 none open"));
}
