using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;

namespace Kit.Endpoints.Cells;

/// <summary>A phase of a worker's time with a message, or with a batch of them.</summary>
public enum MessagePhase
{
    /// <summary>It takes the message from the queue.</summary>
    Receive,

    /// <summary>It handles the message.</summary>
    Handler,

    /// <summary>It commits, sends and acknowledges.</summary>
    Commit,

    /// <summary>The decision is made, and the handler's rows are not visible yet.</summary>
    SecondPhase,

    /// <summary>From the receive of a batch to its commit.</summary>
    Batch,
}

/// <summary>A histogram of an endpoint's packages that measures a phase.</summary>
/// <param name="Operation">The measurements that belong to the phase, by their tag <see cref="OperationTag"/>; <see langword="null"/>: all.</param>
public sealed record PhaseInstrument(MessagePhase Phase, string Meter, string Name, string? Operation = null)
{
    /// <summary>Another instrument of the meter, without whose listener the package does not record this one; <see langword="null"/>: none.</summary>
    public string? OnlyWith { get; init; }

    /// <summary>OpenTelemetry's name of the tag that tells a receive from a settlement.</summary>
    public const string OperationTag = "messaging.operation.name";

    /// <summary>The instruments of the kit's packages under any framework.</summary>
    public static IReadOnlyList<PhaseInstrument> OfEveryFramework { get; } =
    [
        new(MessagePhase.SecondPhase, EndpointMeter.Name, SecondPhaseLag.InstrumentName),
        new(MessagePhase.Batch, EndpointMeter.Name, EndpointMeter.BatchDurationName),
    ];

    /// <summary>The instruments of a bare endpoint, on every transport.</summary>
    public static IReadOnlyList<PhaseInstrument> OfBareEndpoints { get; } =
    [
        new(MessagePhase.Receive, EndpointMeter.Name, EndpointMeter.OperationDurationName, "receive"),
        new(MessagePhase.Handler, EndpointMeter.Name, EndpointMeter.ProcessDurationName),
        new(MessagePhase.Commit, EndpointMeter.Name, EndpointMeter.OperationDurationName, "settle"),
    ];
}
