using System.Globalization;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The global transaction id of a prepared branch. It names the transaction that received the message. That transaction's outcome is the decision:
/// <c>kit/&lt;system identifier of the queue's server&gt;/&lt;oid of its database&gt;/&lt;transaction id&gt;</c>.
/// </summary>
internal readonly record struct BranchId(QueueDatabase Queue, ulong TransactionId)
{
    /// <summary>The statement that prepares it.</summary>
    public string Prepare => $"PREPARE TRANSACTION '{this}'";

    /// <summary>The statement that commits it.</summary>
    public string Commit => $"COMMIT PREPARED '{this}'";

    /// <summary>The statement that rolls it back.</summary>
    public string RollBack => $"ROLLBACK PREPARED '{this}'";

    public static bool TryParse(string globalId, out BranchId branch)
    {
        branch = default;
        if (globalId.Split('/') is not ["kit", var system, var database, var transaction]
            || !ulong.TryParse(system, NumberStyles.None, CultureInfo.InvariantCulture, out var systemIdentifier)
            || !uint.TryParse(database, NumberStyles.None, CultureInfo.InvariantCulture, out var databaseOid)
            || !ulong.TryParse(transaction, NumberStyles.None, CultureInfo.InvariantCulture, out var transactionId))
            return false;

        branch = new BranchId(new QueueDatabase(systemIdentifier, databaseOid), transactionId);
        return true;
    }

    public override string ToString() => $"{Queue.Prefix}{TransactionId}";
}
