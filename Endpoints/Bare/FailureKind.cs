namespace Kit.Endpoints.Bare;

/// <summary>What kind of failure it is, which decides what happens to the message.</summary>
internal enum FailureKind
{
    /// <summary>
    /// The server refused before the handler had done anything there, had no free prepared transaction, or says that it cannot work now. No attempt is
    /// counted; the worker pauses.
    /// </summary>
    Refused,

    /// <summary>The queue's or the handler's session was lost while the message was handled. The attempt counts; the next one is delayed.</summary>
    SessionLost,

    /// <summary>The handler itself failed. The attempt counts; the next one follows at once.</summary>
    HandlerFailed,

    /// <summary>No attempt could ever succeed. The message goes to the error queue.</summary>
    Hopeless,
}
