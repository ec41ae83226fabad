using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Wire;

namespace Kit.Prove.Handlings;

/// <summary>One undisturbed handling of a message.</summary>
/// <param name="Requests">Requests from its arrival until nothing was left to do, in their order.</param>
/// <param name="Commits">Transactions of that time, in the order of the commits.</param>
/// <param name="Sends">Transactions that put another message in while the service did not run.</param>
internal sealed record Observation(
    Guid Message, IReadOnlyList<SeenRequest> Requests, IReadOnlyList<CommittedTransaction> Commits, IReadOnlyList<CommittedTransaction> Sends)
{
    /// <summary>Time without a change after which work counts as stuck: twice what the trial allowed for a start. The machine can be busy now.</summary>
    private static readonly TimeSpan Quiet = 2 * Settling.ToStart;

    private static readonly TimeSpan Limit = 2 * Quiet;

    /// <summary>The tables into which a message is put.</summary>
    public IReadOnlySet<string> QueueTables { get; } = Sends.SelectMany(commit => commit.Rows).Select(row => row.Table).ToHashSet();

    /// <summary>The transactions without the one that put the message in; <see langword="null"/>: that one was not found.</summary>
    public IReadOnlyList<CommittedTransaction>? OfHandling
    {
        get
        {
            if (Sends.Count == 0)
                return Commits;

            // In a database's log the message is there before it is handled.
            var send = Commits.FirstOrDefault(commit => Sends.Any(sent => sent.Database == commit.Database && sent.Rows.SequenceEqual(commit.Rows)));
            return send is null ? null : [.. Commits.Where(commit => commit != send)];
        }
    }

    /// <summary>Looks at one handling, after two others.</summary>
    /// <exception cref="KitException">The service does not handle a message, or the server cannot decode its log.</exception>
    public static async Task<Observation> MakeAsync(ProofFile file, ProofServers servers, CancellationToken cancellationToken)
    {
        // Commit timestamps do not tell of deleted rows.
        if (servers.Undecodable is { } because)
            throw because;
        var gate = new RequestGate();
        await using var service = await Application.OpenAsync(file.WithCommits, servers, gate, cancellationToken);
        await service.StartAsync(cancellationToken);
        var first = Guid.CreateVersion7();
        await service.SendAsync([first], cancellationToken);
        await HandleAsync(first);
        IReadOnlyList<CommittedTransaction> sends = [];
        // A caller's request is put nowhere.
        if (file.Send is not SendByHttp)
        {
            await service.KillAsync();
            await CommitsAsync();
            var waiting = Guid.CreateVersion7();
            await service.TrySendAsync(waiting, cancellationToken);
            sends = await CommitsAsync();
            await service.StartAsync(cancellationToken);
            await HandleAsync(waiting);
        }

        await CommitsAsync();
        gate.Record();
        var message = Guid.CreateVersion7();
        await service.SendAsync([message], cancellationToken);
        await HandleAsync(message);
        var requests = gate.Release();
        gate.ThrowIfFailed();
        return new Observation(message, requests, await CommitsAsync(), sends);

        async Task HandleAsync(Guid one)
        {
            var settled = await service.SettleAsync([one], Limit, Quiet, cancellationToken);
            if (!settled.IsDone)
                throw new KitException($"an undisturbed message was not handled{(settled.Because is { } why ? $": {why}" : "")}", service.Remedy);
        }

        async Task<IReadOnlyList<CommittedTransaction>> CommitsAsync() =>
            [.. (await service.Bed.ReadCommitsAsync(cancellationToken) ?? []).OrderBy(commit => commit.CommittedUtc)];
    }

    /// <summary>What was seen, with the advice that follows from it. A look that fails is an unknown mode, and no error.</summary>
    public static async Task<SeenHandling> LookAsync(ProofFile file, ProofServers servers, CancellationToken cancellationToken)
    {
        try
        {
            var seen = await MakeAsync(file, servers, cancellationToken);
            var mode = ModeOfAHandling.Of(file, seen);
            return new SeenHandling(
                [
                    .. from commit in seen.OfHandling ?? seen.Commits
                       select new SeenCommit(commit.Database, [.. commit.Rows.Select(row => $"{row.Kind} {row.Table}").Distinct()]),
                ],
                mode)
            {
                Advice = [.. NeededMode.Of(file, seen, mode)],
            };
        }
        catch (KitException unseen)
        {
            return new SeenHandling([], SeenMode.Unknown($"one handling could not be seen: {unseen.Message.TrimEnd('.')}")) { IsUnseen = true };
        }
    }
}
