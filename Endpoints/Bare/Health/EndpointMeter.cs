namespace Kit.Endpoints.Bare.Health;

/// <summary>The meter of all endpoints on bare drivers.</summary>
public static class EndpointMeter
{
    /// <summary>As <c>dotnet-counters</c> and OpenTelemetry's <c>AddMeter</c> take it.</summary>
    public const string Name = "Kit.Endpoints.Bare";
}
