namespace Kit.Modes;

/// <summary>What a crash of the handler's process can do to the messages that were being handled, and to no others.</summary>
public enum CrashEffect
{
    /// <summary>Each has its effect exactly once.</summary>
    None,

    /// <summary>Rows can be doubled; nothing is lost.</summary>
    Doubles,

    /// <summary>Messages can be lost; nothing is doubled.</summary>
    Loses,

    /// <summary>Prepared transactions can stay that nobody ends, their messages neither handled nor to be handled again.</summary>
    LeavesInDoubt,
}
