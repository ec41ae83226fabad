using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler throws.</summary>
/// <param name="isOnce">True if only at its first attempt.</param>
internal sealed class HandlerThrows(AttemptPoint at, string what, bool isOnce) : InHandler(new ScriptedAct(at, isOnce, new Throw(what)))
{
    /// <summary>Throws, after a note.</summary>
    internal sealed record Throw(string What) : HandlerAct
    {
        public override Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken) => throw attempt.Intended(What);
    }
}
