using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.NServiceBus;
using Kit.Endpoints.NServiceBus.PostgreSql;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using NServiceBus.Transport;

// In NServiceBus's namespace, so that the transport is found where endpoints are configured.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace NServiceBus;
#pragma warning restore IDE0130

/// <summary>
/// NServiceBus's PostgreSQL transport with one more transaction mode, <see cref="TransportTransactionMode.TransactionScope"/>: receive, the
/// handler's rows and its sends are one atomic unit, by the kit's two-phase commit. The handler's database is another one of the same server, one of
/// another PostgreSQL server, or the queue's own. In the transaction modes of NServiceBus's transport it does what that transport does.
/// </summary>
/// <remarks>
/// <para>
/// Handlers take their connection from the message: <see cref="BranchExtensions.GetBranchConnectionAsync"/>. Any other resource that enlists in
/// the handler's ambient transaction fails the message. A connection that does not enlist is outside of the unit.
/// </para>
/// <para>
/// After a crash between the commit of the receive and the second phase, the rows become visible when an endpoint of the queue runs again.
/// Until then the prepared branch holds its locks.
/// </para>
/// </remarks>
public sealed class TwoPhasePostgreSqlTransport : TransportDefinition, ITransactionModeTransport
{
    private readonly NpgsqlDataSource source;
    private TransactionSettings? transactions;

    /// <param name="queues">The connection string of the queues' database.</param>
    /// <param name="data">The connection string of the handlers' database, on the same server or another; by default, the queues'.</param>
    /// <exception cref="ArgumentException">A connection string cannot be read, or shares sessions: Multiplexing.</exception>
    public TwoPhasePostgreSqlTransport(string queues, string? data = null)
        : base(TransportTransactionMode.TransactionScope, supportsDelayedDelivery: true, supportsPublishSubscribe: true, supportsTTBR: true)
    {
        Queues = new DatabaseAccess(queues).ForQueue(nameof(queues));
        Data = data is null ? Queues : new DatabaseAccess(data).ForSessions(nameof(data));
        source = NpgsqlDataSource.Create(Queues.Text(enlist: false));
        Inner = new PostgreSqlTransport(async cancellationToken => await source.OpenConnectionAsync(cancellationToken));
    }

    /// <summary>
    /// The transport that receives and sends: its schemas, subscriptions, delayed delivery and pauses are set here. Do not set its transaction mode.
    /// </summary>
    public PostgreSqlTransport Inner { get; }

    /// <summary>
    /// How often the endpoint looks for branches that a crash left, and how old a branch must be for that; by default 5 seconds.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not positive.</exception>
    public TimeSpan RecoveryInterval
    {
        get;
        set
        {
            ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(value, TimeSpan.Zero);
            field = value;
        }
    } = BareEndpointBuilder.DefaultRecoveryInterval;

    /// <summary>
    /// Whether the endpoint starts with its queue and its handlers' data on two servers, although one of them sends its log to standbys that it does not wait
    /// for. If such a standby is promoted, it lacks the last commits and the other server has them: messages are lost or doubled. Set it if these standbys are
    /// never promoted.
    /// </summary>
    public bool AcceptsAsynchronousStandbys { get; set; }

    internal DatabaseAccess Queues { get; }

    internal DatabaseAccess Data { get; }

    /// <summary>How many connections of the queues' pool its receivers can hold that have started so far; one after the other does.</summary>
    internal int ConnectionsOfReceivers { get; set; }

    /// <summary>What its receivers report about themselves, once they have started.</summary>
    internal ConcurrentBag<EndpointStatus> Statuses { get; } = [];

    /// <inheritdoc/>
    public override IReadOnlyCollection<TransportTransactionMode> GetSupportedTransactionModes() =>
        [.. Inner.GetSupportedTransactionModes(), TransportTransactionMode.TransactionScope];

    /// <inheritdoc/>
    Kit.Modes.Support ITransactionModeTransport.Supports(TransactionMode mode) => mode == TransactionMode.FullDtc
        ? Kit.Modes.Support.Yes
        : Kit.Modes.Support.No($"{nameof(TwoPhasePostgreSqlTransport)} is for {TransactionMode.FullDtc}; use {nameof(PostgreSqlTransport)} in the other modes");

    /// <inheritdoc/>
    void ITransactionModeTransport.Use(TransactionSettings settings)
    {
        ArgumentNullException.ThrowIfNull(settings);
        transactions = settings;
        Inner.TransactionScope.IsolationLevel = settings.ScopeIsolation;
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">
    /// The servers lack something that the mode needs, or <c>UseTransactionMode</c> was not called. The message says what to do.
    /// </exception>
    public override async Task<TransportInfrastructure> Initialize(
        HostSettings hostSettings, ReceiveSettings[] receivers, string[] sendingAddresses, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(hostSettings);
        ArgumentNullException.ThrowIfNull(receivers);
        if (TransportTransactionMode != TransportTransactionMode.TransactionScope)
            return await InitializeInnerAsync(TransportTransactionMode, receiver => receiver);

        if (transactions is null && receivers.Length > 0)
        {
            throw new InvalidOperationException(
                $"{nameof(TwoPhasePostgreSqlTransport)} has no settings for its transactions. Call UseTransactionMode(transport, " +
                "TransactionMode.FullDtc) instead of UseTransport(transport).");
        }

        // The sends commit with the receive.
        return await InitializeInnerAsync(TransportTransactionMode.SendsAtomicWithReceive, receiver =>
            new TwoPhaseReceiver(receiver, this, source, transactions!, new NServiceBusLog($"{hostSettings.Name} ({receiver.Id})")));

        async Task<TransportInfrastructure> InitializeInnerAsync(TransportTransactionMode mode, Func<IMessageReceiver, IMessageReceiver> wrap)
        {
            ConnectionsOfReceivers = 0;
            Inner.TransportTransactionMode = mode;
            return new TwoPhaseInfrastructure(await Inner.Initialize(hostSettings, receivers, sendingAddresses, cancellationToken), source, wrap);
        }
    }

    /// <inheritdoc/>
    protected override void ConfigureServicesCore(IServiceCollection services) => Inner.ConfigureServices(services);
}
