using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>One attempt's work, as its mode sees it: which transaction the connection and the sent messages belong to.</summary>
internal interface IWork
{
    /// <summary>Why the server did not let the handler in; <see langword="null"/> when it did, or was not asked.</summary>
    Exception? Refusal { get; }

    /// <summary>Whether a message is sent when the handler sends it; else when the handler has succeeded.</summary>
    bool SendsAtOnce => false;

    ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken);

    /// <summary>The connection's transaction; <see langword="null"/> where no object stands for it.</summary>
    ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken);

    Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken);
}
