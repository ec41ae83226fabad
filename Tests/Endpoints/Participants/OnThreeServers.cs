using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Handlers;
using Kit.Runner.Servers;
using Kit.Tests.AcrossServers;
using Kit.Tests.Bare;
using Kit.Tests.TwoPhase;
using Npgsql;

namespace Kit.Tests.Participants;

/// <summary>A queue, rows and a participant, each on a server of the fixture's own.</summary>
public abstract class OnThreeServers : OnTwoServers
{
    public const string Participant = "billing";

    /// <summary>A queue in the participant's database, which <see cref="CreateInvoicesAsync"/> creates.</summary>
    public const string Invoices = "invoices";

    internal PrivatePostgreSql BillingServer { get; private set; } = null!;

    internal TestDatabases Billing { get; private set; } = null!;

    internal string BillingConnection => Billing.Widgets;

    [OneTimeSetUp]
    public async Task StartThird() => BillingServer = await PrivatePostgreSql.StartAsync(CancellationToken.None);

    [OneTimeTearDown]
    public async Task StopThird()
    {
        if (BillingServer is not null)
            await BillingServer.DisposeAsync();
    }

    [SetUp]
    public async Task SetUpThird() => Billing = await TestDatabases.CreateAsync(BillingServer, hasQueue: false);

    [TearDown]
    public async Task TearDownThird()
    {
        if (Bench is not null)
            await Bench.StopAsync();
        if (Billing is null)
            return;

        await Billing.RollBackPreparedAsync();
        await Billing.DisposeAsync();
        Billing = null!;
    }

    internal static async Task InsertInBothAsync(MessageContext context, CancellationToken cancellationToken)
    {
        await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
        await InsertInBillingAsync(context, cancellationToken);
    }

    protected static async Task InsertInBillingAsync(MessageContext context, CancellationToken cancellationToken) => await TwoPhaseBench.ExecuteAsync(
        await context.GetConnectionAsync(Participant, cancellationToken),
        $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{context.MessageId}')");

    internal static async Task SendInBillingAsync(
        IMessageSender sender, MessageContext context, CancellationToken cancellationToken, string queue = Invoices) => await sender.SendAsync(
        queue, "an invoice", await context.GetTransactionAsync(Participant, cancellationToken), context.MessageId, cancellationToken: cancellationToken);

    internal async Task<PostgreSqlQueue> CreateInvoicesAsync()
    {
        var invoices = new PostgreSqlQueue(BillingConnection, Invoices);
        await invoices.CreateAsync(CancellationToken.None);
        return invoices;
    }

    /// <summary>Starts an endpoint with the participant.</summary>
    /// <param name="work">What its handler does; by default it inserts in both databases and sends.</param>
    /// <param name="billing">How the participant is reached, if otherwise.</param>
    /// <param name="configure">More settings.</param>
    /// <param name="queue">How it reaches its queue, if otherwise.</param>
    protected Task StartAsync(
        Work? work = null, string? billing = null, Action<BareEndpointBuilder>? configure = null, string? queue = null) => Bench.StartAsync(
        work ?? InsertInBothAsync,
        queue,
        configure: endpoint =>
        {
            endpoint.AddParticipant(Participant, billing ?? BillingConnection);
            configure?.Invoke(endpoint);
        });

    protected async Task DrainedAsync()
    {
        await Bench.DrainedAsync();
        await Eventually.HoldsAsync(async () => await Billing.CountPreparedAsync() == 0, "nothing is prepared at the participant");
    }

    protected async Task HasExactlyOneEffectOfEachAsync(IReadOnlyCollection<Guid> messages)
    {
        await Bench.HasExactlyOneEffectOfEachAsync(messages);
        Assert.That(await Billing.ReadRowsByMessageAsync(), Is.EquivalentTo(messages.ToDictionary(message => message, _ => 1)), "rows of the participant");
    }

    /// <summary>The row of a worker of both databases whose process was killed.</summary>
    /// <param name="worker">Its id.</param>
    /// <param name="open">The decided numbers.</param>
    /// <param name="billing">The participant's database, if otherwise.</param>
    protected async Task InsertWorkerOfBothAsync(Guid worker, string open, string? billing = null) => await TestDatabases.ExecuteAsync(
        Bench.QueueConnection,
        "INSERT INTO kit_worker (id, branches_on, database, open, participants) " +
        $"VALUES ('{worker}', 0, 0, '{open}', ARRAY['{await ReadPlaceAsync(Bench.DataConnection)}', '{await ReadPlaceAsync(billing ?? BillingConnection)}'])");

    protected Task<int> CountWorkersAsync(Guid worker) =>
        TestDatabases.ScalarAsync(Bench.QueueConnection, $"SELECT count(*)::int FROM kit_worker WHERE id = '{worker}'");

    internal async Task PrepareInBillingAsync(BranchId branch) => await TestDatabases.ExecuteAsync(
        BillingConnection, $"BEGIN; INSERT INTO widget VALUES ({WidgetId.Next()}, '{Guid.NewGuid()}'); {branch.Prepare}");

    private static async Task<string> ReadPlaceAsync(string connection)
    {
        await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(connection) { Pooling = false });
        var place = await QueueDatabase.ReadAsync(source, CancellationToken.None);
        return $"{unchecked((long)place.SystemIdentifier)}/{place.DatabaseOid}";
    }
}
