namespace Kit.Runner.Results;

/// <summary>
/// The traffic during a drain between an endpoint and its servers, seen by the kit's proxy. It includes what the endpoint asked when it started and
/// stopped.
/// </summary>
/// <param name="SqlStatements">Statements that PostgreSQL completed, per message; several can be sent at once.</param>
/// <param name="SqlRoundTrips">
/// Round trips to PostgreSQL, per message, over all connections, including those for which no message waits.
/// </param>
/// <param name="SqlConnections">The most open connections to PostgreSQL at the same time, since the handler's process started.</param>
public sealed record NetworkUse(MeasuredRoundTrip Trip, Reading SqlStatements, Reading SqlRoundTrips, int SqlConnections);

/// <summary>Times of pings through the kit's proxy during a drain.</summary>
public sealed record MeasuredRoundTrip(double MeanMilliseconds, double P99Milliseconds, int Pings);
