using System.Text;

namespace Kit.Runner.Wire;

/// <summary>A client's request to its server, and the server's answer.</summary>
internal sealed class WireRequest(string text, bool hasAnswer)
{
    /// <summary>The statement, or the name of the method.</summary>
    public string Text { get; } = text;

    /// <summary>The text without its values.</summary>
    public string Normal => field ??= StatementText.Normal(Text);

    /// <summary>True if the server answers it.</summary>
    public bool HasAnswer { get; } = hasAnswer;

    /// <summary>
    /// True if the server can be asked if it has acted. A request with an answer needs no proof; for one without, the server is asked for something that it
    /// answers later.
    /// </summary>
    public bool CanBeProved { get; init; } = hasAnswer;

    /// <summary>Its frames, as they came.</summary>
    public byte[] Frames { get; init; } = [];

    /// <summary>The server's answer, in the protocol's words; <see langword="null"/> before it has come.</summary>
    public string? Outcome { get; set; }

    /// <summary>True if the whole answer has come.</summary>
    public bool IsAnswered { get; set; }

    /// <summary>PostgreSQL's answers to each of its statements.</summary>
    public List<string> Commands { get; } = [];

    /// <summary>True if one of its statements ended a transaction, or prepared it. Others in the same text can have begun another one.</summary>
    public bool HasEndedTransaction => StatementText.HasEndedTransaction(Text, Commands);

    /// <summary>True if its frames have this id, as PostgreSQL's binary format has it or as text.</summary>
    public bool Carries(Guid id) =>
        Frames.AsSpan().IndexOf(id.ToByteArray(bigEndian: true)) >= 0 || Frames.AsSpan().IndexOf(Encoding.ASCII.GetBytes($"{id}")) >= 0;

    /// <summary>The transaction of the connection that it belongs to, counted from 0.</summary>
    public int Transaction { get; set; }
}

/// <summary>A whole frame of a client, or several that belong to one request.</summary>
/// <param name="Bytes">As they came.</param>
/// <param name="Request">The request that begins with them; <see langword="null"/>: they belong to the request before, or to none.</param>
internal sealed record ClientUnit(byte[] Bytes, WireRequest? Request = null)
{
    /// <summary>The proxy's answer in the place of the server's, which never gets the frame; <see langword="null"/>: none.</summary>
    public byte[]? AnsweredWith { get; init; }

    /// <summary>Tells the protocol that it has been sent to the server; <see langword="null"/>: the protocol need not know.</summary>
    public Action? Sent { get; init; }
}

/// <summary>A whole frame of a server.</summary>
/// <param name="Bytes">As they came.</param>
/// <param name="Of">The request that it answers; <see langword="null"/>: unknown, or none.</param>
/// <param name="Completed">The requests whose answers are complete with it.</param>
internal sealed record ServerFrame(byte[] Bytes, WireRequest? Of, IReadOnlyList<WireRequest> Completed)
{
    /// <summary>True if the server goes on only when the client has answered it, as in an authentication.</summary>
    public bool IsQuestion { get; init; }
}
