namespace Kit.Runner.Wire;

/// <summary>Something that a client asks its server to do, and the server's answer.</summary>
/// <param name="text">The statement, or the name of the method.</param>
/// <param name="hasAnswer">Whether the server answers it.</param>
internal sealed class WireRequest(string text, bool hasAnswer)
{
    /// <summary>The statement, or the name of the method.</summary>
    public string Text { get; } = text;

    /// <summary>The same without its values.</summary>
    public string Normal => field ??= StatementText.Normal(Text);

    /// <summary>Whether the server answers it.</summary>
    public bool HasAnswer { get; } = hasAnswer;

    /// <summary>
    /// Whether the server can be asked if it has acted. A request with an answer needs no proof; for one without, the server is asked for something
    /// that it answers later.
    /// </summary>
    public bool CanBeProved { get; init; } = hasAnswer;

    /// <summary>What the server answered, in the protocol's words; <see langword="null"/> before it has.</summary>
    public string? Outcome { get; set; }

    /// <summary>Whether the whole answer has come.</summary>
    public bool IsAnswered { get; set; }

    /// <summary>What PostgreSQL answered to each of its statements.</summary>
    public List<string> Commands { get; } = [];

    /// <summary>Whether one of its statements ended a transaction, or prepared it. Others in the same text can have begun another one.</summary>
    public bool HasEndedTransaction => StatementText.HasEndedTransaction(Text, Commands);

    /// <summary>The transaction of the connection that it belongs to, counted from 0.</summary>
    public int Transaction { get; set; }
}

/// <summary>A whole frame of a client, or several that belong to one request.</summary>
/// <param name="Bytes">As they came.</param>
/// <param name="Request">What begins with them; <see langword="null"/>: they belong to the request before, or to none.</param>
internal sealed record ClientUnit(byte[] Bytes, WireRequest? Request = null)
{
    /// <summary>What the proxy answers instead of the server, which never gets the frame; <see langword="null"/>: nothing.</summary>
    public byte[]? AnsweredWith { get; init; }

    /// <summary>Tells the protocol that it has been sent to the server; <see langword="null"/>: the protocol need not know.</summary>
    public Action? Sent { get; init; }
}

/// <summary>A whole frame of a server.</summary>
/// <param name="Bytes">As they came.</param>
/// <param name="Of">The request that it answers; <see langword="null"/>: unknown, or none.</param>
/// <param name="Completed">The requests whose answers are whole with it.</param>
internal sealed record ServerFrame(byte[] Bytes, WireRequest? Of, IReadOnlyList<WireRequest> Completed)
{
    /// <summary>Whether the server goes on only when the client has answered it, as in an authentication.</summary>
    public bool IsQuestion { get; init; }
}
