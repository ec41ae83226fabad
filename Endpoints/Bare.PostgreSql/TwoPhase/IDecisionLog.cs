using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The durable record of what was decided on the branches of one queue. It is written with the commit of the queue's transaction, and read by recovery.
/// </summary>
internal interface IDecisionLog
{
    /// <summary>A statement for a session that is going to end branches; <see langword="null"/> if it needs none.</summary>
    string? BeforeEnds { get; }

    /// <summary>Says who ends a prepared transaction.</summary>
    SlotKin KinOf(SlotHolder holder);

    /// <summary>Requires, of each connection that is going to end branches, that they and the record belong together.</summary>
    /// <exception cref="InvalidOperationException">One of them is a copy. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A server cannot be reached.</exception>
    Task RequireAsync(NpgsqlConnection data, CancellationToken cancellationToken);

    /// <summary>Requires the same before a pass of recovery, so that copies that were made earlier are refused later.</summary>
    /// <inheritdoc cref="RequireAsync"/>
    Task RenewAsync(NpgsqlConnection data, CancellationToken cancellationToken);

    /// <summary>Returns when the ends of branches that recovery finds gone would survive a failover.</summary>
    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    /// <exception cref="ServerRefusedException">It stopped waiting for its standbys.</exception>
    Task AwaitStandbysAsync(NpgsqlConnection data, CancellationToken cancellationToken);

    /// <summary>Reads the decision on a branch of this queue. A decision that was read never changes.</summary>
    /// <param name="data">The connection that is going to end the branch.</param>
    /// <param name="branch">The branch.</param>
    /// <param name="isYoung">Whether it may still wait for the prepare of another branch of its unit, and is undecided if its worker lives.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="NpgsqlException">A server cannot be reached.</exception>
    Task<BranchDecision> ReadAsync(NpgsqlConnection data, BranchId branch, bool isYoung, CancellationToken cancellationToken);

    /// <summary>Requires, before the second phase, that the branches are decided, as far as the server of the branches can tell.</summary>
    /// <param name="data">The connection that is going to commit the branches.</param>
    /// <param name="branches">Branches whose decision this process has seen.</param>
    /// <returns>How many of the server's slots are in use, including those of the branches.</returns>
    /// <exception cref="InvalidOperationException">The server did not commit their receives: it is another one.</exception>
    /// <exception cref="NpgsqlException">A server cannot be reached.</exception>
    Task<long> RequireDecidedAsync(NpgsqlConnection data, IReadOnlyCollection<BranchId> branches);

    /// <summary>A branch is no longer prepared.</summary>
    void Ended(BranchId branch);

    /// <summary>Removes, after a pass of recovery, records that no branch can need any more.</summary>
    /// <param name="data">Reaches the branches' server.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="NpgsqlException">A server cannot be reached.</exception>
    Task TidyAsync(NpgsqlConnection data, CancellationToken cancellationToken);
}
