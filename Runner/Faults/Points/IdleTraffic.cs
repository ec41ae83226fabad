using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Points;

/// <summary>The requests that a process without a message repeats.</summary>
/// <param name="Transactions">Whole transactions, each as one text: <see cref="Handling.TransactionsIn"/>.</param>
/// <param name="Requests">Each server, statement or method, and answer, also in a transaction that was open already.</param>
/// <param name="Late">Requests that it made once. They can be work for a message that was handled before.</param>
internal sealed record IdleTraffic(
    IReadOnlySet<string> Transactions, IReadOnlySet<(string Server, string Text, string? Outcome)> Requests, IReadOnlyList<string> Late)
{
    /// <summary>The traffic of two times in which the process had no message. Polls are in both.</summary>
    public static IdleTraffic Of(IdleTime first, IdleTime second)
    {
        var transactions = Handling.TextsOf(first.Seen).Intersect(Handling.TextsOf(second.Seen)).ToHashSet();
        var requests = first.Requests.Select(WithoutAnswer).Intersect(second.Requests.Select(WithoutAnswer)).ToHashSet();
        IReadOnlyList<SeenRequest> seen = [.. first.Seen, .. second.Seen];
        return new(
            Handling.TransactionsIn(seen, transactions),
            first.Requests.Concat(second.Requests).Where(one => requests.Contains(WithoutAnswer(one))).ToHashSet(),
            [.. Handling.RequestsOutside(seen, transactions).Distinct()]);
    }

    private static (string, string) WithoutAnswer((string Server, string Text, string? Outcome) one) => (one.Server, one.Text);
}

/// <summary>The requests in a time without a message.</summary>
/// <param name="Seen">Requests in transactions that began in it.</param>
/// <param name="Hidden">Requests in transactions that were open already.</param>
internal sealed record IdleTime(IReadOnlyList<SeenRequest> Seen, IReadOnlyList<(string Server, string Text, string? Outcome)> Hidden)
{
    /// <summary>All requests, seen and hidden.</summary>
    public IEnumerable<(string Server, string Text, string? Outcome)> Requests =>
        Seen.Select(one => (one.Server, one.Text, one.Request.Outcome)).Concat(Hidden);
}
