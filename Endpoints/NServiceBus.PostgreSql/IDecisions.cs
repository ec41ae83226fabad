using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>The decisions on the messages that a transport receives, and where their handlers' rows are.</summary>
internal interface IDecisions
{
    /// <summary>Reaches the handlers' database, whose name is empty. Does not enlist.</summary>
    IReadOnlyDictionary<string, NpgsqlDataSource> Data { get; }

    /// <summary>The decision on a message, before its handler.</summary>
    /// <param name="receive">The connection that received it.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="Kit.Endpoints.Bare.ServerRefusedException">The queue's database refused what a decision needs.</exception>
    /// <exception cref="InvalidOperationException">The databases do not belong together.</exception>
    /// <exception cref="NpgsqlException">The connection broke.</exception>
    ValueTask<IDecision> OfAsync(NpgsqlConnection receive, CancellationToken cancellationToken);

    /// <summary>Why the servers are not the right ones, if a message failed because of that; otherwise <see langword="null"/>.</summary>
    /// <param name="reason">What it failed with.</param>
    string? MismatchOf(Exception reason);
}
