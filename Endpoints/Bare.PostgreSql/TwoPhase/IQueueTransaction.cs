using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The queue's transaction that received: the endpoint's own, or a framework's.</summary>
internal interface IQueueTransaction
{
    NpgsqlConnection Connection { get; }

    /// <summary>Commits it.</summary>
    /// <exception cref="NpgsqlException">It did not commit, or the connection broke and only the server knows.</exception>
    Task CommitAsync();

    /// <summary>Commits it, directly after the statement that decides: see <see cref="WorkerRows.Decide"/>.</summary>
    /// <param name="open">The numbers that the worker's row will list.</param>
    /// <inheritdoc cref="CommitAsync" path="/exception"/>
    Task DecideAsync(long[] open);

    /// <summary>Ends it after the server has refused that, unless somebody else does.</summary>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    Task EndRefusedAsync();
}
