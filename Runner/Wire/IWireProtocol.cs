namespace Kit.Runner.Wire;

/// <summary>
/// Reads the frames of one connection: their boundaries and types, and the statement or the method that is asked for. Bytes come in pieces of any size.
/// </summary>
internal interface IWireProtocol
{
    /// <summary>The complete frames of the client.</summary>
    IReadOnlyList<ClientUnit> FromClient(ReadOnlySpan<byte> piece);

    /// <summary>The complete frames of the server.</summary>
    IReadOnlyList<ServerFrame> FromServer(ReadOnlySpan<byte> piece);

    /// <summary>True if the server has acted on every request, as far as that can be known.</summary>
    bool IsSettled { get; }

    /// <summary>True if the client wants to speak, or speaks, in another way, such as TLS.</summary>
    bool IsUnreadable { get; }

    /// <summary>The transaction of the next request, if the one before belongs to it; otherwise <see langword="null"/>.</summary>
    int? OpenTransaction { get; }

    /// <summary>The most requests that can be under way on the connection at the same time: one on each open channel, and at least one.</summary>
    int Sessions { get; }

    /// <summary>The bytes that make the server show that it has acted on everything so far; empty if it does so anyway.</summary>
    byte[] Probe();
}
