using System.Diagnostics;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Npgsql;

namespace Kit.Runner.Faults.Injections;

/// <summary>
/// The message is sent a second time, with its id, as by a sender that got no confirmation or a broker that redelivers. Its handler waits between its inserts
/// until another worker has the copy.
/// </summary>
internal sealed class SentTwice : OneMessage
{
    public override HandlerScript Script { get; } = new(ScriptedAct.Once(AttemptPoint.AfterFirstInsert, new WaitForCopy()));

    protected override async Task SendAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        await scene.Testbed.SendAsync([scene.Chosen], cancellationToken);
        await scene.Testbed.SendAgainAsync(scene.Chosen, cancellationToken);
    }

    /// <summary>Two workers have the message if another handler was entered, or if an endpoint that stores ids waits for this one's commit.</summary>
    internal sealed record WaitForCopy : HandlerAct
    {
        private static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);
        private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(attempt.Spec.Widgets) { Enlist = false, Pooling = false });
            await using var onlooker = await source.OpenConnectionAsync(CancellationToken.None);
            for (var watch = Stopwatch.StartNew(); watch.Elapsed < Limit; await Task.Delay(Pause, CancellationToken.None))
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
