namespace Kit.Endpoints.Bare;

/// <summary>The errors of one database driver. Each member judges one exception, without its inner exceptions.</summary>
internal abstract class DriverErrors
{
    /// <summary>Whether a session is gone: its server ended it, or the network broke.</summary>
    public abstract bool IsSessionLost(Exception failure);

    /// <summary>
    /// Whether the server says that it cannot work now, whoever asks: it lacks disk, memory or connections, or is starting. Waiting helps, and the message
    /// is not to blame.
    /// </summary>
    public abstract bool IsStateOfServer(Exception failure);

    /// <summary>Whether a statement waited for longer than a time-out of the driver or of the server allows.</summary>
    public abstract bool IsTimeout(Exception failure);
}
