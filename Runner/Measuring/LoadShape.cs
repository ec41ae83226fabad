namespace Kit.Runner.Measuring;

/// <summary>The way in which messages arrive.</summary>
internal abstract record LoadShape;

/// <summary>On schedule, whatever the endpoint does.</summary>
/// <param name="Rate">Messages a second.</param>
internal sealed record OpenLoad(double Rate) : LoadShape
{
    /// <inheritdoc cref="Schedule(double, TimeSpan, Random?)"/>
    public Random? Pauses { get; init; }
}

/// <summary>The load of users, each of whom waits until the row of its last message is committed, and then pauses.</summary>
/// <param name="Ramp">The users begin within this time, the first at once and the others at equal distances.</param>
/// <param name="Timeout">
/// Time that a user waits for the effect, from the moment at which the message was to be sent. Then the user gives up and goes on, and the message has
/// failed.
/// </param>
internal sealed record ClosedLoad(int Users, TimeSpan Think, TimeSpan Ramp, TimeSpan Timeout) : LoadShape;
