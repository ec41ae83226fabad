using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class InventedDrains
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Test]
    public void Parts_of_a_drain_have_rates_of_their_own()
    {
        // A thousand messages: 100 at 10 a second, then 800 at 100 a second, then 100 at 20 a second.
        var moments = new List<double>();
        for (var at = 0; at < 1_000; at++)
            moments.Add((at == 0 ? 0 : moments[^1]) + (at < 100 ? 100 : at < 900 ? 10 : 50));
        var drain = new Throughput(moments);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.FirstTenthPerSecond, Is.EqualTo(10));
            Assert.That(drain.MiddleHalfPerSecond, Is.EqualTo(100));
            Assert.That(drain.LastTenthPerSecond, Is.EqualTo(20));
        }
    }

    [Test]
    public void Parts_of_a_drain_in_batches_count_the_commits_of_their_time()
    {
        // A thousand messages, 50 every 50 ms.
        var drain = new Throughput([.. Enumerable.Range(0, 1_000).Select(at => (at / 50 + 1) * 50.0)]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.MiddleHalfPerSecond, Is.EqualTo(1_000));
            Assert.That(drain.LastTenthPerSecond, Is.EqualTo(1_000));
        }
    }

    [Test]
    public void Parts_with_too_few_commits_have_no_rate()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(new Throughput([]).MiddleHalfPerSecond, Is.Null);
            Assert.That(Of(98).MiddleHalfPerSecond, Is.Null, "49 commits");
            Assert.That(Of(100).MiddleHalfPerSecond, Is.EqualTo(1_000), "50 commits");
            Assert.That(Of(100).LastTenthPerSecond, Is.Null);
            Assert.That(new Throughput([.. Enumerable.Repeat(5.0, 200)]).MiddleHalfPerSecond, Is.Null, "no time passes");
        }

        static Throughput Of(int messages) => new([.. Enumerable.Range(1, messages).Select(at => (double)at)]);
    }

    [Test]
    public void Nothing_committed_has_no_figures()
    {
        var drain = new Throughput([]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.Committed, Is.Zero);
            Assert.That(drain.ElapsedSeconds, Is.Null);
            Assert.That(drain.AveragePerSecond, Is.Null);
            Assert.That(drain.MaximumInOneSecond, Is.Null);
            Assert.That(drain.Series(Second), Is.Empty);
        }
    }

    [Test]
    public void One_message_has_an_average_and_no_maximum()
    {
        var drain = new Throughput([250]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.ElapsedSeconds, Is.EqualTo(0.25));
            Assert.That(drain.AveragePerSecond, Is.EqualTo(4));
            Assert.That(drain.MaximumInOneSecond, Is.Null);
            Assert.That(drain.Series(Second), Is.EqualTo(new[] { new RateBin(0, 0.25, 1) }));
        }
    }

    [Test]
    public void One_message_that_took_no_time_has_no_rate()
    {
        var drain = new Throughput([0]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.ElapsedSeconds, Is.Zero);
            Assert.That(drain.AveragePerSecond, Is.Null);
            Assert.That(drain.Series(Second), Is.Empty);
        }
    }

    [Test]
    public void One_message_after_a_second_has_a_maximum_of_one() =>
        Assert.That(new Throughput([1_500]).MaximumInOneSecond, Is.EqualTo(1));

    [Test]
    public void Ties_all_count()
    {
        var drain = new Throughput([500, 500, 500, 2_000, 2_000]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.AveragePerSecond, Is.EqualTo(2.5));
            Assert.That(drain.MaximumInOneSecond, Is.EqualTo(3));
            Assert.That(CountsOf(drain), Is.EqualTo(new[] { 3, 2 }));
        }
    }

    [Test]
    public void All_commits_at_one_instant_share_one_window() =>
        Assert.That(new Throughput([1_000, 1_000, 1_000]).MaximumInOneSecond, Is.EqualTo(3));

    [Test]
    public void Window_holds_its_first_moment_and_not_its_last()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(new Throughput([100, 1_100]).MaximumInOneSecond, Is.EqualTo(1));
            Assert.That(new Throughput([100, 1_099.999]).MaximumInOneSecond, Is.EqualTo(2));
        }
    }

    [Test]
    public void Window_has_exact_borders_where_binary_fractions_have_none() =>
        Assert.That(new Throughput([0.1, 0.3, 1_000.1, 1_000.3]).MaximumInOneSecond, Is.EqualTo(2));

    [Test]
    public void Window_slides_over_the_borders_of_seconds() =>
        Assert.That(new Throughput([100, 900, 950, 1_050, 1_100, 1_900, 3_000]).MaximumInOneSecond, Is.EqualTo(4));

    [Test]
    public void Maximum_is_what_trying_every_window_finds()
    {
        var random = new Random(20140601);
        for (var drain = 0; drain < 200; drain++)
        {
            // Few distinct moments make ties and exact borders common.
            var offsets = Enumerable.Range(0, random.Next(1, 40)).Select(_ => random.Next(0, 60) * 100d).Append(1_000d).Order().ToList();
            var tried = offsets.Max(start => offsets.Count(offset => offset >= start && offset < start + 1_000));

            Assert.That(new Throughput(offsets).MaximumInOneSecond, Is.EqualTo(tried), string.Join(", ", offsets));
        }
    }

    [Test]
    public void Drain_of_less_than_a_second_has_an_average_and_no_maximum()
    {
        var drain = new Throughput([200, 400, 999.999]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.MaximumInOneSecond, Is.Null);
            Assert.That(drain.AveragePerSecond, Is.EqualTo(3.000003).Within(1e-9));
        }
    }

    [Test]
    public void Drain_of_exactly_a_second_has_a_maximum() =>
        Assert.That(new Throughput([0, 400, 1_000]).MaximumInOneSecond, Is.EqualTo(2));

    [Test]
    public void Series_gives_a_commit_on_a_border_to_the_second_that_begins() =>
        Assert.That(CountsOf(new Throughput([0, 1_000, 1_500, 2_500])), Is.EqualTo(new[] { 1, 2, 1 }));

    [Test]
    public void Series_ends_with_the_last_commit_even_on_a_border() =>
        Assert.That(CountsOf(new Throughput([500, 1_500, 2_000])), Is.EqualTo(new[] { 1, 2 }));

    [Test]
    public void Series_shows_seconds_without_commits() =>
        Assert.That(CountsOf(new Throughput([500, 3_500])), Is.EqualTo(new[] { 1, 0, 0, 1 }));

    [Test]
    public void Series_says_how_long_its_last_second_was()
    {
        var last = new Throughput([500, 1_250]).Series(Second)[^1];

        using (Assert.EnterMultipleScope())
        {
            Assert.That(last, Is.EqualTo(new RateBin(1, 0.25, 1)));
            Assert.That(last.PerSecond, Is.EqualTo(4));
        }
    }

    [TestCase(1)]
    [TestCase(7)]
    [TestCase(1_000)]
    public void Series_holds_every_commit_once(int milliseconds)
    {
        var offsets = InventedRun.Rounds[0].OffsetsMilliseconds;

        Assert.That(new Throughput(offsets).Series(TimeSpan.FromMilliseconds(milliseconds)).Sum(bin => bin.Commits), Is.EqualTo(offsets.Count));
    }

    [TestCase(-0.001)]
    [TestCase(double.NaN)]
    [TestCase(double.PositiveInfinity)]
    public void Impossible_moment_is_refused(double offset) =>
        Assert.That(() => new Throughput([offset]), Throws.ArgumentException.With.Message.Contains("ascending and not negative"));

    [Test]
    public void Unsorted_moments_are_refused() =>
        Assert.That(() => new Throughput([2, 1]), Throws.ArgumentException.With.Message.Contains("1 ms follows 2 ms"));

    [Test]
    public void Bin_without_length_is_refused() =>
        Assert.That(() => new Throughput([1]).Series(TimeSpan.Zero), Throws.InstanceOf<ArgumentOutOfRangeException>());

    private static int[] CountsOf(Throughput drain) => [.. drain.Series(Second).Select(bin => bin.Commits)];
}
