using Npgsql;

namespace Kit.Prove.Service;

/// <summary>Tells the transactions that were committed in the databases of a service.</summary>
internal interface ICommits : IAsyncDisposable
{
    /// <summary>The process ids of its sessions in those databases, which do nothing between two reads.</summary>
    int[] Sessions { get; }

    /// <summary>The transactions, as far as it knows them.</summary>
    /// <exception cref="NpgsqlException">The server cannot be asked.</exception>
    Task<IReadOnlyList<CommittedTransaction>> ReadAsync(CancellationToken cancellationToken);
}
