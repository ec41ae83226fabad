namespace Kit.Endpoints.Bare;

/// <summary>The errors of one database driver. Each member judges one exception, without its inner exceptions.</summary>
internal abstract class DriverErrors
{
    /// <summary>Whether a session is gone: its server ended it, or the network broke.</summary>
    public abstract bool IsSessionLost(Exception failure);

    /// <summary>Whether a statement waited for longer than a time-out of the driver or of the server allows.</summary>
    public abstract bool IsTimeout(Exception failure);
}
