using System.Diagnostics;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>
/// The endpoint's connection to its transport is cut whenever the handler has the chosen message. An endpoint that receives nothing afterwards is started
/// again, and that is a violation.
/// </summary>
internal sealed class ReceiveLost : OneMessage
{
    /// <summary>More than the attempts of any mode: an endpoint that does not count attempts would go on for ever.</summary>
    private const int MostCuts = 8;

    /// <summary>Time for an attempt to be cut off and the next to begin: NServiceBus reconnects to RabbitMQ after 10 s.</summary>
    private static readonly TimeSpan ForACut = TimeSpan.FromSeconds(20);

    public override HandlerScript Script { get; } =
        new(ScriptedAct.Always(AttemptPoint.AfterFirstInsert, new WaitForRunner("waits until its receive is cut")));

    protected override Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken) => CutAsync(scene, cancellationToken);

    /// <summary>Cuts until the message is no longer in the queue, or was cut off more often than any mode attempts it.</summary>
    /// <returns>False if it takes too long, or the first attempt at the message had no connection that could be cut.</returns>
    internal static async Task<bool> CutAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var testbed = scene.Testbed;
        var attempts = new HashSet<Guid>();
        var cuts = 0;
        var hasMissedTheFirst = false;
        var sinceACut = Stopwatch.StartNew();
        var hasEnded = await scene.UntilAsync(
            async () =>
            {
                foreach (var line in testbed.Journal.LinesOf(scene.Chosen)
                    .Where(line => line.Point is AttemptPoint.Faulted && attempts.Add(line.AttemptId)))
                {
                    // An endpoint that tries again from memory can be waiting to connect: there is nothing to cut then.
                    if (attempts.Count > MostCuts)
                        testbed.LetGo(line.AttemptId);
                    else if (await testbed.CutReceiveAsync(line.AttemptId) > 0)
                        cuts++;
                    else
                        hasMissedTheFirst |= attempts.Count == 1;
                    sinceACut.Restart();
                }

                if (hasMissedTheFirst)
                    return true;

                if (cuts > 0 && scene.Blocked is null && sinceACut.Elapsed > FaultScene.Patience)
                {
                    scene.Blocked = new Violation(
                        null, $"after {cuts} cuts the endpoint received nothing for {FaultScene.Patience.TotalSeconds} s, and was started again", []);
                    await scene.KillAsync(cancellationToken);
                }

                return cuts > 0 && (await testbed.CountAsync(cancellationToken)).Queue == 0;
            },
            cancellationToken,
            (MostCuts + 1) * ForACut);
        testbed.LetGoOfAll();
        scene.Tell($"the connection to the transport was cut at {cuts} of {attempts.Count} attempts at the message");
        return hasEnded && !hasMissedTheFirst;
    }

    /// <summary>Waits until the runner lets the attempt go on.</summary>
    internal sealed record WaitForRunner(string What) : HandlerAct
    {
        public override Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken) => attempt.WaitForRunnerAsync(What);
    }
}
