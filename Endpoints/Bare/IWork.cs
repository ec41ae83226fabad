using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>The work of one attempt. Its mode decides which transaction the connection and the sent messages belong to.</summary>
internal interface IWork
{
    /// <summary>Why the server refused the handler a connection; <see langword="null"/> if it did not, or was not asked.</summary>
    Exception? Refusal { get; }

    /// <summary>Whether a message leaves when the handler sends it, and not only when the handler has succeeded.</summary>
    bool SendsAtOnce => false;

    ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken);

    /// <summary>The connection's transaction; <see langword="null"/> if no object represents it.</summary>
    ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken);

    /// <summary>The connection to a further database of the handler.</summary>
    /// <exception cref="ArgumentException">There is no participant of that name.</exception>
    ValueTask<DbConnection> GetConnectionAsync(string participant, CancellationToken cancellationToken) => throw Participant.Unknown(participant, []);

    /// <summary>The transaction of that connection.</summary>
    /// <inheritdoc cref="GetConnectionAsync(string, CancellationToken)" path="/exception"/>
    ValueTask<DbTransaction?> GetTransactionAsync(string participant, CancellationToken cancellationToken) => throw Participant.Unknown(participant, []);

    Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken);
}
