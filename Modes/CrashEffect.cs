namespace Kit.Modes;

/// <summary>What a crash of the handler's process can do to the messages being handled. It affects no others.</summary>
public enum CrashEffect
{
    /// <summary>Each has its effect exactly once.</summary>
    None,

    /// <summary>Rows can be doubled; nothing is lost.</summary>
    Doubles,

    /// <summary>Messages can be lost; nothing is doubled.</summary>
    Loses,

    /// <summary>Prepared transactions can be left that nobody ends. Their messages are neither handled nor redelivered.</summary>
    LeavesInDoubt,
}
