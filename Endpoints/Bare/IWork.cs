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

    Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken);
}
