using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>One attempt's work, as its mode sees it: which transaction the connection and the sent messages belong to.</summary>
internal interface IWork
{
    ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken);

    Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken);
}
