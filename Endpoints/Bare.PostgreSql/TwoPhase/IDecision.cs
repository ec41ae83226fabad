using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The commit of one transaction of the queue, which decides one unit.</summary>
internal interface IDecision
{
    /// <summary>The id that the unit's branch in the database of a participant is prepared as.</summary>
    BranchId BranchOf(string participant);

    /// <summary>Statements on a branch's server that have to succeed before it is prepared, in the same round trip.</summary>
    IEnumerable<NpgsqlBatchCommand> BeforePrepare { get; }

    /// <summary>Commits the queue's transaction.</summary>
    /// <param name="branches">The branches, all prepared. If there are any, the commit has to record their decision.</param>
    /// <exception cref="FencedException">Recovery has ruled the decision out. Nothing was committed.</exception>
    /// <exception cref="NpgsqlException">It did not commit, or the connection broke and only the server knows.</exception>
    Task CommitAsync(IReadOnlyCollection<BranchId> branches);

    /// <summary>The unit has ended. If its commit was not tried, it decides nothing any more.</summary>
    void Close();
}
