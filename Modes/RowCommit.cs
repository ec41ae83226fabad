namespace Kit.Modes;

/// <summary>How the handler's rows commit, as seen on its connection. A fault at the commit looks for this.</summary>
public enum RowCommit
{
    /// <summary>Each statement autocommits.</summary>
    EachStatement,

    /// <summary>One commit when the handler has returned.</summary>
    Once,

    /// <summary>One commit when the handler has returned, together with the receive and the sends.</summary>
    WithReceive,

    /// <summary>Prepared when the handler has returned, committed after the receive.</summary>
    InTwoPhases,
}
