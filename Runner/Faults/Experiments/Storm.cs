using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Experiments;

/// <summary>
/// Many messages. At random moments of their drain the handler process is killed, or every connection of its endpoint is cut. A mode is
/// judged only by what it promises under every fault, and only after every fault that the plan names.
/// </summary>
/// <param name="say">Receives a line about its progress now and then.</param>
internal sealed class Storm(Cell cell, ServersInUse servers, StormPlan plan, Action<string> say)
{
    /// <summary>Lost messages make no progress; after this time the fault is injected anyway.</summary>
    private static readonly TimeSpan ToProgress = TimeSpan.FromSeconds(10);

    /// <summary>Time for a process to start, also on a busy machine, or for an endpoint to connect again. A storm that waits longer is void.</summary>
    private static readonly TimeSpan ToGoOn = TimeSpan.FromMinutes(3);

    private enum StormFault
    {
        Kill,
        Cut,
        ServerCrash,
    }

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan BetweenWords = TimeSpan.FromSeconds(10);

    /// <summary>The most messages that can be received and not settled at the same time.</summary>
    private int MostUnsettled => Testbed.Concurrency * cell.BatchSize;

    private readonly Random random = new(plan.Seed);
    private readonly List<DateTimeOffset> restarts = [];

    /// <summary>Runs it. Any failure becomes the result's verdict.</summary>
    /// <exception cref="OperationCanceledException">It was stopped.</exception>
    public async Task<FaultResult> RunAsync(CancellationToken cancellationToken)
    {
        var known = new FaultResult { Cell = Provenance.NameOf(cell), Fault = StormFacts.Name, Verdict = FaultVerdict.Failed };
        var watch = Stopwatch.StartNew();
        try
        {
            await using var testbed = await Testbed.CreateAsync(cell, servers, cancellationToken, plan.Unflushed);
            var facts = await RageAsync(testbed, cancellationToken);
            var unsettled = await Settling.WaitAsync(
                testbed.CountAsync, cell.Kind.Facts.LongestPause, mayHideWork: !cell.Mode.CommitOrder.IsMessageLeftInHandler, cancellationToken);
            await testbed.StopOrKillHandlerAsync(cancellationToken);
            var history = await testbed.ReadHistoryAsync(cancellationToken);
            facts = facts with
            {
                RestartMilliseconds = StormRestart.Of(restarts, history.Attempts),
                Again = facts.ServerCrashes > 0 ? HandledAgain.CountIn(history.Attempts) : null,
            };
            return known = Judge(known, Account.Of(history, testbed.Workload), unsettled, facts) with { Seconds = watch.Elapsed.TotalSeconds };
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return known.FailedAfterwards(KitException.MessageOf(failure)) with { Seconds = watch.Elapsed.TotalSeconds };
        }
    }

    /// <summary>One wave of messages for each fault, which is injected at a random moment of its drain, and a last wave without a fault.</summary>
    /// <remarks>It ends early if nothing moves any more.</remarks>
    private async Task<StormFacts> RageAsync(Testbed testbed, CancellationToken cancellationToken)
    {
        StormFault[] faults =
        [
            .. Enumerable.Repeat(StormFault.Kill, plan.Kills), .. Enumerable.Repeat(StormFault.Cut, plan.Cuts),
            .. Enumerable.Repeat(StormFault.ServerCrash, plan.ServerCrashes),
        ];
        random.Shuffle(faults);
        var wave = plan.Messages / (faults.Length + 1);
        var (kills, cuts, crashes, sent, inHandlers) = (0, 0, 0, 0, 0);
        var earlier = DateTimeOffset.MinValue;
        await StartAsync(testbed, cancellationToken);
        var said = Stopwatch.StartNew();
        foreach (var fault in faults)
        {
            if (said.Elapsed > BetweenWords)
            {
                say($"{Provenance.NameOf(cell)}: {kills + cuts + crashes} of {faults.Length} faults");
                said.Restart();
            }

            var before = testbed.Journal.Count();
            await testbed.SendAsync(NewIds(wave), cancellationToken);
            sent += wave;
            // On a busy machine a process starts for longer than a fault waits. A server that crashes meanwhile would only stop it from starting.
            if (!await ProgressAsync(testbed, before + 1, ToGoOn, cancellationToken))
                return Facts();
            _ = await ProgressAsync(testbed, before + random.Next(1, wave * ExperimentHandler.LinesPerAttempt), ToProgress, cancellationToken);
            // A kill ends the process before anything more can happen in it; at the other faults a handler can return at that very moment.
            inHandlers += testbed.IsAHandlerOpen(earlier) ? 1 : 0;
            switch (fault)
            {
                case StormFault.Kill:
                    kills += await testbed.KillHandlerAsync() == ChildProcess.Killed ? 1 : 0;
                    if (testbed.Windows is { } windows)
                        await windows.LookAsync(cancellationToken);
                    restarts.Add(DateTimeOffset.UtcNow);
                    await StartAsync(testbed, cancellationToken);
                    break;
                case StormFault.Cut:
                    var ended = await Task.WhenAll(testbed.WidgetsProxy.EndAllAsync(Ending.Cut), testbed.TransportProxy.EndAllAsync(Ending.Cut));
                    cuts += ended.Sum() > 0 ? 1 : 0;
                    break;
                case StormFault.ServerCrash:
                    // Each of two servers by turns, in each of two ways.
                    var databases = servers.DatabasesOf(cell);
                    var server = databases[crashes / 2 % databases.Count];
                    _ = await (crashes++ % 2 == 0 ? server.KillAsync(cancellationToken) : server.CrashAsync(cancellationToken));
                    break;
                default:
                    throw new NotSupportedException($"Nobody has said what a storm does at {fault}.");
            }

            earlier = DateTimeOffset.UtcNow;
        }

        var atLast = testbed.Journal.Count();
        await testbed.SendAsync(NewIds(plan.Messages - sent), cancellationToken);
        _ = await ProgressAsync(testbed, atLast + 1, ToGoOn, cancellationToken);
        return Facts();

        StormFacts Facts() => new(plan.Seed, kills, cuts, (kills + cuts + crashes) * MostUnsettled, testbed.Windows?.Met)
        {
            Asked = plan.Faults,
            InHandlers = inHandlers,
            ServerCrashes = crashes,
            Unflushed = plan.UnflushedName,
        };
    }

    private static Task StartAsync(Testbed testbed, CancellationToken cancellationToken) =>
        testbed.StartHandlerAsync(Guid.Empty, HandlerScript.None, cancellationToken);

    /// <returns>True if the journal got that many lines.</returns>
    private static async Task<bool> ProgressAsync(Testbed testbed, int lines, TimeSpan patience, CancellationToken cancellationToken)
    {
        for (var watch = Stopwatch.StartNew(); testbed.Journal.Count() < lines; await Task.Delay(Pause, cancellationToken))
        {
            testbed.ThrowIfBroken();
            if (watch.Elapsed > patience)
                return false;
        }

        return true;
    }

    private static List<Guid> NewIds(int count) => [.. Enumerable.Range(0, count).Select(_ => Guid.CreateVersion7())];

    private FaultResult Judge(FaultResult blank, Account account, string? unsettled, StormFacts facts)
    {
        var transport = Transport.Of(cell);
        var promise = FaultPromise.Always(cell.Mode, transport.IsBroker);
        var promised = promise.Classes;
        var limits = cell.Kind.Facts.LimitsOf(cell, fault: null, Affected.Chosen);
        facts = facts with
        {
            Touched = account.Verdicts.Count(verdict => verdict.Class is not DeliveryClass.Once),
            // A process that had ended before its kill has left its messages, too.
            MostTouched = promise.Most(plan.Kills, plan.Cuts + plan.ServerCrashes, MostUnsettled, transport.Prefetch),
        };
        var violations = StormLimits.ViolationsOf(
            facts,
            [.. account.ViolationsOf(promised, limits).Where(violation => violation.MessageId is not null || !promised.Contains(DeliveryClass.InDoubt))],
            limits,
            MostUnsettled);
        var verdict = PointVerdict.Of(unsettled, violations.Count > 0, account.Verdicts.SelectMany(message => message.Beyond(promised)));
        // What a short storm broke is broken.
        if (verdict is FaultVerdict.Kept && facts.Shortfall is not null)
            verdict = FaultVerdict.Void;
        return blank.With(violations) with
        {
            Verdict = verdict,
            Because = verdict is FaultVerdict.Void ? unsettled ?? facts.Shortfall : null,
            Promised = [.. promised.Order()],
            Observed = [.. Enum.GetValues<DeliveryClass>().Select(kind => new Observation(kind, account.AllOf(kind).Count)).Where(seen => seen.Messages > 0)],
            Counts = account.Counts,
            Fired = [facts.Done, .. facts.Windows is { } windows ? [$"{windows}"] : Array.Empty<string>()],
            Storm = facts,
        };
    }
}
