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

    [Test]
    public void Tells_it_after_the_run_was_stored()
    {
        using var temporary = new TemporaryFolder();
        var refused = NotHere with { IsRefused = true };
        RunFolder.Create(temporary.Below("run"), InventedRun.Document with { LeftOut = [NotHere, refused], Ending = RunEnding.Stopped("Ctrl+C") });

        Assert.That(RunFolder.Open(temporary.Below("run")).Load().Document.LeftOut, Is.EqualTo([NotHere, refused]));
    }
}
