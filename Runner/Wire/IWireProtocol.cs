namespace Kit.Runner.Wire;

/// <summary>
/// Reads the frames of one connection: their boundaries and types, and the statement or the method that is asked for. Bytes come in pieces of any size.
/// </summary>
internal interface IWireProtocol
{
    /// <summary>What the client has sent completely.</summary>
    IReadOnlyList<ClientUnit> FromClient(ReadOnlySpan<byte> piece);

    /// <summary>What the server has sent completely.</summary>
    IReadOnlyList<ServerFrame> FromServer(ReadOnlySpan<byte> piece);

    /// <summary>Whether the server has acted on everything that it was asked, as far as that can be known.</summary>
    bool IsSettled { get; }

    /// <summary>Whether the client wants to speak, or speaks, in another way, such as TLS.</summary>
    bool IsUnreadable { get; }

    /// <summary>The transaction of the next request, if the one before belongs to it; otherwise <see langword="null"/>.</summary>
    int? OpenTransaction { get; }

    /// <summary>How many requests the connection can have under way at the same time: one on each open channel, and at least one.</summary>
    int Sessions { get; }

    /// <summary>What makes the server show that it has acted on everything so far; empty if it does so anyway.</summary>
    byte[] Probe();
}
