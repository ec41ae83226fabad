using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The branches of one queue in one database: the connections that end them, the server's slots for them, and recovery.</summary>
internal sealed partial class Branches : IAsyncDisposable
{
    private readonly BranchConnections connections;
    private readonly Recovery recovery;
    private readonly Participant participant;

    private Branches(BranchConnections connections, Participant participant, IDecisionLog decisions, SlotNeeds needs, ILogger log)
    {
        this.connections = connections;
        this.participant = participant;
        Decisions = decisions;
        Slots = new Slots(connections.Data, needs, log, decisions.Ended);
        recovery = new Recovery(connections.Data, decisions, log, Slots, connections.In);
    }

    /// <inheritdoc cref="BranchConnections.Data"/>
    public NpgsqlDataSource Data => connections.Data;

    public IDecisionLog Decisions { get; }

    public Slots Slots { get; }

    /// <summary>The branches of the queue that recovery could not end in its last pass. Each holds a slot and its locks.</summary>
    public int Left => recovery.Left;

    /// <summary>Checks the servers and runs recovery once.</summary>
    /// <param name="decisions">The record of the decisions.</param>
    /// <param name="participant">The database.</param>
    /// <param name="sharing">How many databases of the endpoint's branches are on its server.</param>
    /// <param name="concurrency">The number of messages that the endpoint handles at a time.</param>
    /// <param name="log">The endpoint's log.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="InvalidOperationException">The servers lack something that two-phase commit needs. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<Branches> StartAsync(
        IDecisionLog decisions, Participant participant, int sharing, int concurrency, ILogger log, CancellationToken cancellationToken)
    {
        var opened = BranchConnections.Create(participant.Database.Settings, decisions);
        try
        {
            var needs = await Preflight.CheckAsync(opened.Data, participant.Title, concurrency, sharing, cancellationToken);
            var started = new Branches(opened, participant, decisions, needs, log);
            await started.RecoverAsync(olderThan: TimeSpan.Zero, cancellationToken);
            if (needs.Total - started.Slots.Used < needs.Fewest)
                LogFewSlots(log, needs.Fewest, participant.Title, started.Slots.Used, needs.Total);

            return started;
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    /// <inheritdoc cref="Recovery.RunAsync"/>
    public async Task<int> RecoverAsync(TimeSpan olderThan, CancellationToken cancellationToken)
    {
        try
        {
            return await recovery.RunAsync(olderThan, cancellationToken);
        }
        catch (Exception failure)
        {
            ReadOnlyServer.Leave(connections.Data, failure);
            if (failure is NpgsqlException && participant.Name.Length > 0)
                throw new NpgsqlException($"The branches of {participant.Title} are not looked after: {failure.Message}", failure);

            throw;
        }
    }

    public ValueTask DisposeAsync() => connections.DisposeAsync();

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "full-dtc needs {Fewest} slots for prepared transactions, and {Used} of the server's {Total} are in use ({Of}). " +
            "Messages wait while none is free. " +
            "Raise max_prepared_transactions to the sum of what all endpoints and applications need. " +
            "The command 'branches' shows who holds the slots.")]
    private static partial void LogFewSlots(ILogger log, int fewest, string of, long used, int total);
}
