namespace Kit.Modes;

/// <summary>How the handler's rows commit, seen on its connection: what a fault at the commit has to look for.</summary>
public enum RowCommit
{
    /// <summary>Each statement by itself.</summary>
    EachStatement,

    /// <summary>One commit when the handler has returned.</summary>
    Once,

    /// <summary>One commit when the handler has returned, which is that of receive and sends as well.</summary>
    WithReceive,

    /// <summary>Prepared when the handler has returned, committed after the receive.</summary>
    InTwoPhases,
}
