using System.Globalization;

namespace Kit.Runner.Results.Accounts;

/// <summary>Finds the message that each prepared transaction belongs to.</summary>
internal sealed class PreparedByMessage
{
    private readonly ILookup<Guid?, PreparedTransaction> byMessage;

    /// <remarks>
    /// By its transaction id, which attempts and claimed queue entries name. Without one, by the process id at the end of Npgsql's global ids
    /// (<c>&lt;guid&gt;/&lt;process id&gt;</c>, npgsql issue 6641); a pooled session has served many messages, and does not identify one.
    /// </remarks>
    public PreparedByMessage(History history)
    {
        var backends = history.Attempts.SelectMany(line => line.Backends, (line, backend) => (line.MessageId, Backend: backend)).ToList();
        var byTransaction = backends.Select(one => (one.MessageId, one.Backend.TransactionId))
            .Concat(history.Queue.Select(entry => (entry.MessageId, TransactionId: entry.ClaimedBy)))
            .Where(one => one.TransactionId is not null)
            .ToLookup(one => one.TransactionId!.Value, one => one.MessageId);
        var byProcess = backends.ToLookup(one => one.Backend.ProcessId, one => one.MessageId);

        byMessage = history.Prepared.Distinct().ToLookup(prepared =>
            byTransaction.Contains(prepared.TransactionId) ? OnlyOneOf(byTransaction[prepared.TransactionId])
            : ProcessIn(prepared.GlobalId) is { } process ? OnlyOneOf(byProcess[process])
            : null);
    }

    /// <summary>Prepared transactions that cannot be assigned to exactly one message.</summary>
    public IReadOnlyList<PreparedTransaction> Unattributed => [.. byMessage[null]];

    public IReadOnlyList<PreparedTransaction> Of(Guid messageId) => [.. byMessage[messageId]];

    private static Guid? OnlyOneOf(IEnumerable<Guid> messages) =>
        messages.Distinct().Take(2).ToList() is [var only] ? only : null;

    private static int? ProcessIn(string globalId) =>
        globalId.Split('/') is [var transaction, var process]
        && Guid.TryParse(transaction, out _)
        && int.TryParse(process, NumberStyles.None, CultureInfo.InvariantCulture, out var id)
            ? id
            : null;
}
