using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Tests.Rounds;

/// <summary>The exit code of a run: it is the same when the run is resumed and nothing is left to measure.</summary>
public sealed class ExitCodeOfARun
{
    private static readonly CellLeftOut NotHere = new(InventedRun.Cell("full-dtc", transport: "rabbitmq"), "AMQP has no prepare");

    [Test]
    public void Tells_a_cell_that_was_refused_and_not_one_that_could_not_be_asked_for()
    {
        var document = InventedRun.Document with { LeftOut = [NotHere] };
        RoundDocument[] rounds = [InventedRun.Round("full-dtc", 1, seconds: 1)];

        using (Assert.EnterMultipleScope())
        {
            Assert.That(RunCommand.ExitOf(new RecordedRun(document, rounds)), Is.EqualTo(ExitCode.Success));
            Assert.That(
                RunCommand.ExitOf(new RecordedRun(document with { LeftOut = [NotHere, NotHere with { IsRefused = true }] }, rounds)),
                Is.EqualTo(ExitCode.Failure));
        }
    }

    /// <summary>What lost a message once can lose another. A clock that made a step is no fault of the endpoint.</summary>
    [TestCase(1, ExpectedResult = ExitCode.Failure)]
    [TestCase(0, ExpectedResult = ExitCode.Success)]
    public int Tells_a_lost_message_after_a_valid_attempt(int lost)
    {
        var failed = InventedRun.Round("full-dtc", 1, seconds: 1) with
        {
            Outcome = RoundOutcome.Invalid(["as planned"]),
            Accounts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 10, [DeliveryClass.Lost] = lost },
        };
        var run = new RecordedRun(InventedRun.Document, [failed, InventedRun.Round("full-dtc", 1, seconds: 1, attempt: 2)]);

        Assert.That(run.Warnings.Any(warning => warning.StartsWith("INVALID: 1 attempt at a round", StringComparison.Ordinal)), Is.EqualTo(lost > 0));
        return RunCommand.ExitOf(run);
    }

    [Test]
    public void Tells_it_after_the_run_was_stored()
    {
        using var temporary = new TemporaryFolder();
        var refused = NotHere with { IsRefused = true };
        RunFolder.Create(temporary.Below("run"), InventedRun.Document with { LeftOut = [NotHere, refused], Ending = RunEnding.Stopped("Ctrl+C") });

        Assert.That(RunFolder.Open(temporary.Below("run")).Load().Document.LeftOut, Is.EqualTo([NotHere, refused]));
    }
}
