using System.Globalization;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The name of a branch that a worker's row decides: <c>kit2/&lt;queue's identity&gt;/&lt;worker&gt;/&lt;number&gt;</c>, and <c>/&lt;participant&gt;</c>
/// in another database than the handlers' own; 80 to 129 bytes, of which PostgreSQL allows 199. A worker and its number are never used again.
/// </summary>
/// <param name="Queue">The identity of the queue's database: see <see cref="ServerPair"/>.</param>
/// <param name="Worker">The id of the worker's row: see <see cref="WorkerRow"/>.</param>
/// <param name="Number">The number of the worker's unit.</param>
/// <param name="Participant">The name of the <see cref="Bare.Participant"/>; two can be on one server.</param>
internal readonly record struct WorkerBranch(Guid Queue, Guid Worker, long Number, string Participant = "")
{
    // Long before, a running endpoint of that queue would have ended it.
    private static readonly TimeSpan Forgotten = TimeSpan.FromMinutes(1);

    public BranchId Id => new(string.Create(
        CultureInfo.InvariantCulture, $"kit2/{Queue}/{Worker}/{Number}{(Participant.Length == 0 ? "" : "/")}{Participant}"));

    /// <exception cref="ArgumentException">It is no such branch.</exception>
    public static WorkerBranch Of(BranchId id) =>
        TryParse(id.GlobalId, out var branch) ? branch : throw new ArgumentException($"'{id}' does not name a worker.", nameof(id));

    public static bool TryParse(string globalId, out WorkerBranch branch)
    {
        branch = default;
        if (globalId.Split('/') is not ["kit2", var queue, var worker, var number, .. var rest]
            || rest is not ([] or [_]) || !rest.All(Bare.Participant.IsName)
            || !Guid.TryParseExact(queue, "D", out var identity)
            || !Guid.TryParseExact(worker, "D", out var row)
            || !long.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out var unit))
            return false;

        branch = new WorkerBranch(identity, row, unit, rest is [var participant] ? participant : "");
        return true;
    }

    /// <summary>Says who ends such a branch of another queue.</summary>
    public static SlotKin KinOfAnother(SlotHolder holder) => holder.IsYoungerThan(Forgotten) ? SlotKin.OfAnotherQueue : SlotKin.Foreign;
}
