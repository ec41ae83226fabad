using System.Data;
using System.Data.Common;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>An atomic unit that lends its handler branches, at most one in each database.</summary>
/// <param name="places">Where it can have branches; the handlers' own database first. The data sources must not enlist.</param>
/// <param name="isolation">The mode's isolation level.</param>
internal abstract class UnitWithBranches(IReadOnlyList<BranchPlace> places, IsolationLevel isolation) : SoleResource, IAsyncDisposable
{
    private readonly IReadOnlyList<LentOnce<Branch>> lent =
        [.. places.Select(place => new LentOnce<Branch>(cancellationToken => Branch.BeginAsync(place, isolation, cancellationToken)))];

    /// <summary>Why a server refused the handler a connection; <see langword="null"/> if none did, or was asked.</summary>
    public Exception? Refusal => lent.Select(one => one.Refusal).FirstOrDefault(refusal => refusal is not null);

    /// <summary>The participants whose server had no slot for the branch: see <see cref="Branch.FoundNoSlot"/>.</summary>
    public IEnumerable<string> WithoutSlot =>
        lent.Select(one => one.Opened).OfType<Branch>().Where(branch => branch.FoundNoSlot).Select(branch => branch.Place.Participant);

    /// <summary>Whether no branch is prepared, or can become so.</summary>
    protected bool IsGone => NotGone.Count == 0;

    /// <summary>The places of branches that are prepared, or could be.</summary>
    protected IReadOnlyList<BranchPlace> NotGone =>
        [.. lent.Select(one => one.Opened).OfType<Branch>().Where(branch => !branch.IsGone).Select(branch => branch.Place)];

    /// <summary>The connection in the unit's transaction, even if the handler has opened or suppressed a scope.</summary>
    public async ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => (await lent[0].GetAsync(cancellationToken)).Connection;

    /// <summary>The transaction of that connection.</summary>
    public async ValueTask<DbTransaction> GetTransactionAsync(CancellationToken cancellationToken) => (await lent[0].GetAsync(cancellationToken)).Lent;

    /// <summary>The same in the database of a participant.</summary>
    /// <exception cref="ArgumentException">There is none of that name.</exception>
    public async ValueTask<DbConnection> GetConnectionAsync(string participant, CancellationToken cancellationToken) =>
        (await Of(participant).GetAsync(cancellationToken)).Connection;

    /// <inheritdoc cref="GetConnectionAsync(string, CancellationToken)"/>
    public async ValueTask<DbTransaction?> GetTransactionAsync(string participant, CancellationToken cancellationToken) =>
        (await Of(participant).GetAsync(cancellationToken)).Lent;

    /// <summary>
    /// Returns the branches' connections, which rolls back unprepared branches. That must not happen earlier: a handler whose transaction timed
    /// out may still use them.
    /// </summary>
    public async ValueTask DisposeAsync() => await Task.WhenAll((await EndLendingAsync()).Select(branch => branch.DisposeAsync().AsTask()));

    /// <summary>Ends the lending: later requests fail.</summary>
    /// <returns>The branches in the databases that the handler asked for.</returns>
    protected async ValueTask<IReadOnlyList<Branch>> EndLendingAsync()
    {
        var branches = new List<Branch>();
        foreach (var one in lent)
        {
            if (await one.CloseAsync() is { } branch)
                branches.Add(branch);
        }

        return branches;
    }

    private LentOnce<Branch> Of(string participant)
    {
        for (var place = 1; place < places.Count; place++)
        {
            if (places[place].Participant == participant)
                return lent[place];
        }

        throw Participant.Unknown(participant, places.Skip(1).Select(place => place.Participant));
    }
}
