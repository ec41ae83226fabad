using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Experiments;

/// <summary>A cell of the kit whose handling is met at its points.</summary>
internal sealed class CellSubject : ISubject<CellAccount>
{
    private readonly Testbed testbed;

    /// <summary>The classes of each message that was accounted for.</summary>
    private readonly Dictionary<Guid, IReadOnlyList<DeliveryClass>> earlier = [];

    private CellSubject(Testbed testbed) => this.testbed = testbed;

    public IReadOnlyCollection<FaultProxy> Proxies => [.. new[] { testbed.WidgetsProxy, testbed.TransportProxy }.Distinct()];

    public bool IsRunning => testbed.HasHandler;

    public string Remedy => "The machine may be busy: close other programs. Single faults of the same cell say more.";

    /// <exception cref="Kit.Runner.Results.KitException">A database or a queue cannot be created.</exception>
    public static async Task<ISubject<CellAccount>> OpenAsync(
        Cell cell, ServersInUse servers, HandlerShape shape, RequestGate gate, CancellationToken cancellationToken) =>
        new CellSubject(await Testbed.CreateAsync(cell, servers, cancellationToken, gate: gate, shape: shape, isRecorded: true));

    public Task StartAsync(CancellationToken cancellationToken) =>
        testbed.StartHandlerAsync(Guid.Empty, HandlerScript.None, cancellationToken);

    public Task<int> KillAsync() => testbed.KillHandlerAsync();

    public void ThrowIfBroken() => testbed.ThrowIfBroken();

    /// <inheritdoc/>
    /// <remarks>A handler process of the kit must not end by itself: see <see cref="ThrowIfBroken"/>.</remarks>
    public IReadOnlyList<OwnEnd> TakeOwnEnds() => [];

    public async Task WatchAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        await Task.Delay(time, cancellationToken);
        testbed.ThrowIfBroken();
    }

    public Task SendAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken) => testbed.SendAsync(messages, cancellationToken);

    public Task<Settlement> SettleAsync(IReadOnlyList<Guid> messages, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken) =>
        PointSettling.WaitAsync(testbed, messages, limit, quiet, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>A cell has one handler, which has met its fault before.</remarks>
    public async Task<Recovery> RecoveryAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken) =>
        new(LeavesWork: !PointSettling.AreDone(testbed, await testbed.CountAsync(cancellationToken), [messages[^1]]), NotOnce: 0);

    public async Task<CellAccount> AccountAsync(CancellationToken cancellationToken)
    {
        // A queue is read by receiving from it.
        if (!(await testbed.CountAsync(cancellationToken)).IsReceived)
            await testbed.KillHandlerAsync();
        var history = await testbed.ReadHistoryAsync(cancellationToken);
        List<ChangedMessage> changed =
        [
            .. from message in Account.Of(history, testbed.Workload).Verdicts
               where earlier.ContainsKey(message.MessageId)
               let before = earlier[message.MessageId]
               where !message.Classes.SequenceEqual(before)
               select new ChangedMessage(before, message),
        ];
        var account = Account.Of(history.Without(earlier.Keys.ToHashSet()), testbed.Workload);
        // What has changed is told in each account: whoever asks next must not miss it.
        foreach (var message in account.Verdicts)
            earlier[message.MessageId] = message.Classes;
        return new CellAccount(account, changed);
    }

    public ValueTask DisposeAsync() => testbed.DisposeAsync();
}

/// <summary>The accounts of a cell's messages.</summary>
/// <param name="Account">The messages since the last account.</param>
/// <param name="Changed">Earlier messages that are in other classes since.</param>
internal sealed record CellAccount(Account Account, IReadOnlyList<ChangedMessage> Changed);

/// <summary>A message that is in other classes than when it was accounted for.</summary>
internal sealed record ChangedMessage(IReadOnlyList<DeliveryClass> Before, MessageVerdict Now);
