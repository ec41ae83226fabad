using Npgsql;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>The transaction that received a message, as the transaction context of the message keeps it.</summary>
internal sealed class ReceiveTransaction
{
    /// <summary>Its key in the transaction context.</summary>
    public const string Key = "kit-receive-transaction";

    public NpgsqlTransaction? Transaction { get; set; }

    /// <summary>True if a handler has asked for it.</summary>
    public bool IsTaken { get; set; }
}
