namespace Kit.Endpoints.Cells;

/// <summary>A piece of an endpoint's traffic to PostgreSQL, by which an experiment recognizes a moment.</summary>
public enum WireMark
{
    /// <summary>The message's id in PostgreSQL's binary format, as a parameter has it.</summary>
    BinaryId,

    /// <summary>The message's id as text, as a header has it.</summary>
    TextId,

    /// <summary>The text of the statement <c>COMMIT</c>.</summary>
    Commit,

    /// <summary>The text of the statement <c>PREPARE TRANSACTION</c>.</summary>
    Prepare,

    /// <summary>The text of the statement <c>COMMIT PREPARED</c>.</summary>
    CommitPrepared,

    /// <summary>The execution of a prepared statement, whose text is not sent again.</summary>
    Execution,

    /// <summary>The end of a request.</summary>
    EndOfRequest,
}
