namespace Kit.Runner.Faults.Points;

/// <summary>What a process without a message asks its servers.</summary>
/// <param name="Transactions">Whole ones, each as one text: <see cref="Handling.TransactionsIn"/>.</param>
/// <param name="Requests">Each server, statement or method, and answer, also in a transaction that was open already.</param>
internal sealed record IdleTraffic(IReadOnlySet<string> Transactions, IReadOnlySet<(string Server, string Text, string? Outcome)> Requests);
