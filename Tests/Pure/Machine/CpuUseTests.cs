using Kit.Runner.Servers.Machine;

namespace Kit.Tests.Machine;

/// <summary>Invented machines of two cores, sampled ten seconds apart: 2000 ticks can be used.</summary>
public sealed class CpuUseTests
{
    private const int Runner = 100;
    private const int Handler = 101;
    private const int Postmaster = 200;

    private static readonly HashSet<int> Ours = [Runner, Postmaster];

    [Test]
    public void Busy_is_user_nice_system_and_stolen_time()
    {
        var sample = CpuSample.Parse(TimeSpan.Zero, "cpu  1 20 300 9999 9999 9999 9999 4000 0 0\ncpu0 0 0 0\ncpu1 0 0 0\nintr 5\n", []);

        Assert.Multiple(() =>
        {
            Assert.That(sample.Busy, Is.EqualTo(4321));
            Assert.That(sample.Cores, Is.EqualTo(2));
        });
    }

    [TestCase(2, 2, ExpectedResult = null)]
    [TestCase(16, 2, ExpectedResult = "this process may use 2 of 16 processors, and the use by others is known of all of them together")]
    public string? What_others_use_is_known_of_the_whole_machine_only(int all, int ours) => CpuSample.OfOthersIn(all, ours).Because;

    [TestCase("")]
    [TestCase("cpu 1 2 3\ncpu0 1 2 3\n")]
    [TestCase("cpu 1 2 3 4 5 6 7 8\n")]
    public void Another_text_is_refused(string text) =>
        Assert.That(() => CpuSample.Parse(TimeSpan.Zero, text, []), Throws.InstanceOf<FormatException>());

    [Test]
    public void What_is_neither_ours_nor_the_kernels_is_the_others()
    {
        var start = Sample(0, 1000, Process(Runner, 1, own: 50), Kernel(2, own: 10), Process(300, 1, own: 500, name: "indexer"));
        var end = Sample(10, 1600, Process(Runner, 1, own: 350), Kernel(2, own: 50), Process(300, 1, own: 700, name: "indexer"));

        var use = CpuUse.Between(start, end, Ours);

        Assert.Multiple(() =>
        {
            Assert.That(use.Ours, Is.EqualTo(TimeSpan.FromSeconds(3)));
            Assert.That(use.Others, Is.EqualTo(TimeSpan.FromSeconds(2.6)));
            Assert.That(use.OthersShare, Is.EqualTo(0.13).Within(1e-9));
            Assert.That(use.IsNoisy, Is.True);
            Assert.That(use.Busiest, Is.EqualTo(new BusyProcess("indexer", 300, 0.1)));
        });
    }

    [Test]
    public void A_quiet_machine_has_no_busiest_process()
    {
        var start = Sample(0, 1000, Process(Runner, 1, own: 50), Process(300, 1, own: 500));
        var end = Sample(10, 1100, Process(Runner, 1, own: 150), Process(300, 1, own: 500));

        var use = CpuUse.Between(start, end, Ours);

        Assert.Multiple(() =>
        {
            Assert.That(use.OthersShare, Is.Zero);
            Assert.That(use.IsNoisy, Is.False);
            Assert.That(use.Busiest, Is.Null);
        });
    }

    [Test]
    public void Others_are_never_below_zero()
    {
        var start = Sample(0, 1000, Process(Runner, 1, own: 0));
        var end = Sample(10, 1100, Process(Runner, 1, own: 103));

        Assert.That(CpuUse.Between(start, end, Ours).Others, Is.EqualTo(TimeSpan.Zero));
    }

    [Test]
    public void Others_are_not_hidden_where_ticks_find_the_machine_less_busy_than_us()
    {
        var start = Sample(0, 1000, Process(Runner, 1, own: 0), Process(300, 1, own: 0, name: "indexer"), Process(301, 1, own: 0));
        var end = Sample(10, 1900, Process(Runner, 1, own: 1000), Process(300, 1, own: 200, name: "indexer"), Process(301, 1, own: 40));

        var use = CpuUse.Between(start, end, Ours);

        Assert.Multiple(() =>
        {
            Assert.That(use.OthersShare, Is.EqualTo(0.12).Within(1e-9));
            Assert.That(use.Busiest?.Name, Is.EqualTo("indexer"));
        });
    }

    [Test]
    public void Others_that_came_and_went_are_found_where_their_parent_waited_for_them()
    {
        var start = Sample(0, 1000, Process(Runner, 1, own: 0), Process(300, 1, own: 5, reaped: 50), Process(301, 300, own: 40));
        var end = Sample(10, 1900, Process(Runner, 1, own: 1000), Process(300, 1, own: 5, reaped: 330));

        Assert.That(CpuUse.Between(start, end, Ours).Others, Is.EqualTo(TimeSpan.FromSeconds(2.4)));
    }

    [Test]
    public void What_a_parent_of_ours_waited_for_is_not_the_others()
    {
        var start = Sample(0, 1000, Process(50, 1, own: 0), Process(Runner, 50, own: 0), Process(Postmaster, 50, own: 700));
        var end = Sample(10, 1900, Process(50, 1, own: 0, reaped: 900), Process(Runner, 50, own: 1000));

        Assert.That(CpuUse.Between(start, end, Ours).Others, Is.EqualTo(TimeSpan.Zero));
    }

    [Test]
    public void Descendants_are_ours_whatever_their_ids()
    {
        var start = Sample(0, 0, Process(Runner, 1, own: 0));
        var end = Sample(10, 700, Process(5, Handler, own: 100), Process(Runner, 1, own: 100), Process(Handler, Runner, own: 500));

        Assert.That(CpuUse.Between(start, end, Ours).Ours, Is.EqualTo(TimeSpan.FromSeconds(7)));
    }

    [Test]
    public void A_backend_that_came_and_went_is_counted_with_the_postmaster_that_reaped_it()
    {
        var start = Sample(0, 0, Process(Postmaster, 1, own: 10, reaped: 1000));
        var end = Sample(10, 0, Process(Postmaster, 1, own: 20, reaped: 1300));

        Assert.That(CpuUse.TimeOf(start, end, Ours), Is.EqualTo(TimeSpan.FromSeconds(3.1)));
    }

    [Test]
    public void What_a_backend_had_used_before_is_not_counted_when_it_is_reaped()
    {
        var start = Sample(0, 0, Process(Postmaster, 1, own: 10), Process(201, Postmaster, own: 800));
        var end = Sample(10, 0, Process(Postmaster, 1, own: 10, reaped: 850));

        Assert.That(CpuUse.TimeOf(start, end, Ours), Is.EqualTo(TimeSpan.FromSeconds(0.5)));
    }

    [Test]
    public void What_a_grandchild_had_used_before_is_not_counted_when_it_comes_up_through_its_parent()
    {
        var start = Sample(0, 0, Process(Runner, 1, own: 0), Process(Handler, Runner, own: 100), Process(102, Handler, own: 40));
        var end = Sample(10, 0, Process(Runner, 1, own: 0, reaped: 160));

        Assert.That(CpuUse.TimeOf(start, end, Ours), Is.EqualTo(TimeSpan.FromSeconds(0.2)));
    }

    [Test]
    public void A_root_that_ended_takes_nothing_from_the_others_of_ours()
    {
        var start = Sample(0, 0, Process(Runner, 1, own: 0), Process(Postmaster, 1, own: 900), Process(201, Postmaster, own: 50));
        var end = Sample(10, 0, Process(Runner, 1, own: 30));

        Assert.That(CpuUse.TimeOf(start, end, Ours), Is.EqualTo(TimeSpan.FromSeconds(0.3)));
    }

    [Test]
    public void An_id_of_ours_that_another_process_got_is_not_ours()
    {
        var start = Sample(0, 0, Process(Runner, 1, own: 100, started: 1));
        var end = Sample(10, 500, Process(Runner, 1, own: 500, started: 2, name: "stranger"));

        var use = CpuUse.Between(start, end, Ours);

        Assert.Multiple(() =>
        {
            Assert.That(use.Ours, Is.EqualTo(TimeSpan.Zero));
            Assert.That(use.Busiest?.Name, Is.EqualTo("stranger"));
        });
    }

    [Test]
    public void Hundreds_of_sessions_that_work_for_less_than_a_tick_each_are_not_the_others()
    {
        const string Stat = "{0} (postgres) S 200 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 {1} 0 5 6";
        ProcessStat[] Sessions(string schedule, int threads = 1) =>
            [.. Enumerable.Range(201, 250).Select(id => ProcessStat.Parse(string.Format(null, Stat, id, threads), schedule))];

        var start = Sample(0, 0, [Process(Postmaster, 1, own: 0), .. Sessions("0 0 0")]);
        var end = Sample(10, 100, [Process(Postmaster, 1, own: 0), .. Sessions("4000000 17 1\n")]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(CpuUse.TimeOf(start, end, Ours), Is.EqualTo(TimeSpan.FromSeconds(1)));
            Assert.That(CpuUse.Between(start, end, Ours).Others, Is.EqualTo(TimeSpan.Zero));
            Assert.That(Sessions("4000000 17 1\n", threads: 2)[0].Own, Is.Zero, "it is the time of the first thread alone");
        }
    }

    [Test]
    public void Samples_in_the_wrong_order_are_refused() =>
        Assert.That(() => CpuUse.Between(Sample(10, 0), Sample(10, 0), Ours), Throws.ArgumentException);

    [Test]
    public void This_machine_can_be_sampled_or_says_why_not()
    {
        var sample = CpuSample.Take();

        if (sample is null)
            Assert.That(CpuSample.Support.Because, Is.Not.Empty);
        else
            Assert.That(sample.Processes, Contains.Key(Environment.ProcessId));
    }

    [Test]
    public void Work_of_this_process_is_measured_as_ours()
    {
        if (CpuSample.Take() is not { } start)
        {
            Assert.Ignore(CpuSample.Support.Because!);
            return;
        }

        for (var before = Environment.CpuUsage.TotalTime; Environment.CpuUsage.TotalTime < before + TimeSpan.FromSeconds(0.2);)
            Thread.SpinWait(1000);

        var time = CpuUse.TimeOf(start, CpuSample.Take()!, new HashSet<int> { Environment.ProcessId });
        Assert.That(time, Is.GreaterThan(TimeSpan.FromSeconds(0.02)));
    }

    private static CpuSample Sample(int second, long busy, params ProcessStat[] processes) =>
        new(TimeSpan.FromSeconds(second), 2, busy, processes.ToDictionary(process => process.Id));

    private static ProcessStat Process(int id, int parent, long own, long reaped = 0, long started = 1, string name = "process") =>
        new(id, name, 'S', parent, false, own, reaped, started);

    private static ProcessStat Kernel(int id, long own) => new(id, "kworker", 'S', 0, true, own, 0, 1);
}
