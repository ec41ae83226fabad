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

    /// <summary>Cuts until the message is no longer in the queue, or was cut off more often than any mode attempts it.</summary>
    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var testbed = scene.Testbed;
        var attempts = new HashSet<Guid>();
        var cuts = 0;
        var sinceACut = Stopwatch.StartNew();
        var hasEnded = await scene.UntilAsync(
            async () =>
            {
                foreach (var line in testbed.Journal.LinesOf(scene.Chosen)
                    .Where(line => line.Point is AttemptPoint.Faulted && attempts.Add(line.AttemptId)))
                {
                    if (cuts < MostCuts)
                        await testbed.CutReceiveAsync(line.AttemptId);
                    else
                        testbed.LetGo(line.AttemptId);
                    cuts++;
                    sinceACut.Restart();
                }

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
        scene.Tell($"the connection to the transport was cut {Math.Min(cuts, MostCuts)} times while the message was being handled");
        return hasEnded;
    }

    /// <summary>Waits until the runner lets the attempt go on.</summary>
    internal sealed record WaitForRunner(string What) : HandlerAct
    {
        public override Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken) => attempt.WaitForRunnerAsync(What);
    }
}
