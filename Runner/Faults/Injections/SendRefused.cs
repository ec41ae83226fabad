using Kit.Handlers;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler sends a message that the broker refuses, while others are handled.</summary>
internal sealed class SendRefused : OneMessage
{
    /// <summary>The largest message, in bytes, that the broker takes: far more than any other message has.</summary>
    private const int Largest = 256 * 1_024;

    /// <summary>The letters of a message that is larger.</summary>
    private const int TooLarge = 2 * Largest;

    public override HandlerScript Script { get; } = new(ScriptedAct.Once(AttemptPoint.AfterSecondInsert, new SendTooMuch()));

    protected override Task PrepareAsync(FaultScene scene, CancellationToken cancellationToken) =>
        scene.Servers.BrokerOf(scene.Cell).LimitMessagesAsync(Largest, cancellationToken);

    protected override Task SendAsync(FaultScene scene, CancellationToken cancellationToken) =>
        scene.Testbed.SendAsync([scene.Chosen, .. FaultScene.NewIds()], cancellationToken);

    internal sealed record SendTooMuch : HandlerAct
    {
        public override Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            attempt.Outgoing = attempt.Outgoing with { Document = RandomLetters.Of(TooLarge) };
            attempt.Fault($"sends {TooLarge} letters to a broker that takes {Largest} bytes");
            return Task.CompletedTask;
        }
    }
}
