using Kit.Runner.Measuring;

namespace Kit.Tests.Rounds;

/// <summary>Somebody sets the machine's clock, or that of the database server, while a drain or a load is measured.</summary>
public sealed class ClockThatIsCorrected
{
    private readonly Machine machine = new();

    [TestCase(0, null)]
    [TestCase(0.009, null, Description = "what a time server corrects in ten seconds without a step")]
    [TestCase(0.5, "the machine's clock made a step of 0.500 s while it was measured")]
    [TestCase(-3_600, "the machine's clock made a step of -3600.000 s while it was measured")]
    public void A_step_is_told(double seconds, string? expected)
    {
        using var clock = WallClock.Watch(machine);

        machine.Pass(TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(10 + seconds));

        Assert.That(clock.WhyUntrue(), Is.EqualTo(expected));
    }

    [Test]
    public void Two_steps_that_cancel_each_other_are_told()
    {
        using var clock = WallClock.Watch(machine);

        machine.Pass(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(3));
        machine.EverySecond();
        machine.Pass(TimeSpan.FromSeconds(3), TimeSpan.FromSeconds(1));

        Assert.That(clock.WhyUntrue(), Does.StartWith("the machine's clock made a step of "));
    }

    [TestCase(0.001, null)]
    [TestCase(-2, "the clock of the database server made a step of -2.000 s while it was measured")]
    public void A_step_of_the_servers_clock_is_told(double seconds, string? expected)
    {
        using var clock = WallClock.Watch(machine);

        machine.Pass(TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(10));

        Assert.That(clock.WhyUntrue(TimeSpan.FromSeconds(seconds)), Is.EqualTo(expected));
    }

    [Test]
    public void A_process_that_is_interrupted_between_two_reads_reads_again()
    {
        using var clock = WallClock.Watch(machine);
        machine.Interruption = TimeSpan.FromSeconds(1);

        Assert.That(clock.WhyUntrue(), Is.Null);
    }

    private sealed class Machine : TimeProvider
    {
        private TimeSpan passed;
        private DateTimeOffset utc = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

        /// <summary>Once, after the next read of the time that passes.</summary>
        public TimeSpan Interruption { get; set; }

        public Action EverySecond { get; private set; } = () => { };

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public void Pass(TimeSpan really, TimeSpan byTheClock) => (passed, utc) = (passed + really, utc + byTheClock);

        public override DateTimeOffset GetUtcNow() => utc;

        public override long GetTimestamp()
        {
            var read = passed.Ticks;
            Pass(Interruption, Interruption);
            Interruption = TimeSpan.Zero;
            return read;
        }

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            EverySecond = () => callback(state);
            return new NoTimer();
        }

        private sealed class NoTimer : ITimer
        {
            public bool Change(TimeSpan dueTime, TimeSpan period) => true;

            public void Dispose()
            {
                // It has nothing.
            }

            public ValueTask DisposeAsync() => ValueTask.CompletedTask;
        }
    }
}
