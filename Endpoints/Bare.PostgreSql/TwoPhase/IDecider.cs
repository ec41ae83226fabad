using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The part of two-phase commit that belongs to one worker's session: its handlers' connections, and its decisions.</summary>
internal interface IDecider : IAsyncDisposable
{
    /// <summary>Reaches the database of each participant, by name.</summary>
    IReadOnlyDictionary<string, NpgsqlDataSource> Data { get; }

    /// <summary>Why the configuration cannot be right: a later connection has reached another server.</summary>
    InvalidOperationException? Refusal { get; }

    /// <param name="receive">The transaction that received.</param>
    /// <param name="transactionId">Its id, if the session reads it.</param>
    IDecision Of(NpgsqlTransaction receive, ulong transactionId);
}
