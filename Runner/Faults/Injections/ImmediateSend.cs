using System.Transactions;
using Kit.Endpoints.Cells;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler bypasses its endpoint and sends directly, then throws before its first insert.</summary>
internal sealed class ImmediateSend() : InHandler(
    ScriptedAct.Always(AttemptPoint.Started, new SendPastTheEndpoint()),
    ScriptedAct.Always(AttemptPoint.Started, new HandlerThrows.Throw("has sent immediately and throws")))
{
    internal sealed record SendPastTheEndpoint : HandlerAct
    {
        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            using var outside = new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);
            await attempt.Sink.PreloadAsync([attempt.Message], cancellationToken);
            outside.Complete();
        }
    }
}
