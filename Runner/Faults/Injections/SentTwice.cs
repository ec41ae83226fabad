using System.Diagnostics;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Npgsql;

namespace Kit.Runner.Faults.Injections;

/// <summary>
/// While a handler has the message, it is sent a second time, with its id, as by a sender that got no confirmation or a broker that redelivers. The handler
/// waits between its inserts until another worker has the copy, or the endpoint has dropped it.
/// </summary>
internal sealed class SentTwice : OneMessage
{
    public override HandlerScript Script { get; } = new(ScriptedAct.Once(AttemptPoint.AfterFirstInsert, new WaitForCopy()));

    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var journal = scene.Testbed.Journal;
        if (!await scene.UntilAsync(() => Task.FromResult(Has(scene.Chosen, AttemptPoint.AfterFirstInsert)), cancellationToken))
            return false;

        await scene.Testbed.SendAgainAsync(scene.Chosen, cancellationToken);
        var later = (await scene.SendOrdinaryAsync(cancellationToken, count: 1))[0];
        await scene.UntilAsync(() => Task.FromResult(scene.Failures() > 0 || Has(later, AttemptPoint.Returned)), cancellationToken);
        // Both can be received at once: the copy has its turn, too.
        if (await scene.UntilAsync(() => Task.FromResult(scene.Failures() > 0), cancellationToken, FaultScene.Moment)
            || !Has(later, AttemptPoint.Returned))
        {
            return await base.HasFiredAsync(scene, cancellationToken);
        }

        scene.Testbed.LetGoOfAll();
        scene.Tell("while a handler had the message, the endpoint dropped its copy: a message that was sent after it has been handled");
        return true;

        bool Has(Guid message, AttemptPoint point) => journal.LinesOf(message).Any(line => line.Point == point);
    }

    /// <summary>
    /// Two workers have the message if another handler was entered, or if an endpoint that stores ids waits for this one's commit. It also goes on when the
    /// runner says so.
    /// </summary>
    internal sealed record WaitForCopy : HandlerAct
    {
        private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);
        private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(attempt.Spec.Widgets) { Enlist = false, Pooling = false });
            await using var onlooker = await source.OpenConnectionAsync(CancellationToken.None);
            var goOn = ExperimentSpec.GoOnMark(attempt.Spec.Journal);
            for (var watch = Stopwatch.StartNew(); watch.Elapsed < Limit && !File.Exists(goOn); await Task.Delay(Pause, CancellationToken.None))
            {
                var isEntered = attempt.Attempts > 1;
                if (!isEntered && !await Deadlock.IsWaitedForAsync(onlooker, attempt.Itself.Session, CancellationToken.None))
                    continue;

                attempt.Fault(
                    isEntered ? "had the message while another handler had its copy" : "had the message while another session waited for its commit");
                return;
            }
        }
    }
}
