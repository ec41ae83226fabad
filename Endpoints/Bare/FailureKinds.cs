namespace Kit.Endpoints.Bare;

/// <summary>Decides what kind of failure an exception is. No other place does.</summary>
/// <param name="drivers">The drivers whose errors can be told from a handler's own.</param>
internal sealed class FailureKinds(params IReadOnlyList<DriverErrors> drivers)
{
    /// <summary>Where queue or rows are in PostgreSQL.</summary>
    public static FailureKinds OfPostgreSql { get; } = new(new NpgsqlErrors());

    public FailureKind Of(Exception failure) => Failure.ReasonOf(failure) switch
    {
        ServerRefusedException => FailureKind.Refused,
        UnreadableMessageException or SecondEnlistmentException or TransactionEndedException or NotPreparableException => FailureKind.Hopeless,
        // Before the lost session: a server that lacks something ends sessions for it, too.
        var reason when Failure.Chain(reason).Any(one => drivers.Any(driver => driver.IsStateOfServer(one))) => FailureKind.Refused,
        var reason when Failure.Chain(reason).Any(one => drivers.Any(driver => driver.IsSessionLost(one))) => FailureKind.SessionLost,
        _ => FailureKind.HandlerFailed,
    };

    /// <summary>Whether a statement waited for longer than a time-out of the driver or of the server allows.</summary>
    public bool IsTimeout(Exception failure) => drivers.Any(driver => driver.IsTimeout(failure));
}
