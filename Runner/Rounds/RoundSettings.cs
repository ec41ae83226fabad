using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>What all rounds of a run share.</summary>
/// <param name="Sizes">How much is seeded, warmed up and drained.</param>
/// <param name="Clock">Which clock the widgets' server allows.</param>
/// <param name="Postmaster">Process id of that server where it is the kit's own.</param>
/// <param name="Broker">The RabbitMQ broker; <see langword="null"/> where no cell needs one.</param>
/// <param name="QueueType">How RabbitMQ keeps its queues.</param>
internal sealed record RoundSettings(
    RunSettings Sizes, ClockSource Clock, int? Postmaster, RunBroker? Broker = null, QueueType QueueType = QueueType.Classic);
