using Kit.Modes;
using Rebus.Pipeline;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>A TransactionScope around the handlers of a message, with the kit's isolation level, flowing across awaits.</summary>
/// <param name="settings">The isolation level, and how long the handlers may take.</param>
[StepDocumentation("Runs the handlers in a transaction scope, and commits it when they have returned in time.")]
internal sealed class TransactionScopeStep(TransactionSettings settings) : IIncomingStep
{
    public async Task Process(IncomingStepContext context, Func<Task> next)
    {
        var ofTheBus = context.Load<CancellationToken>();
        try
        {
            await DeadlineScope.RunAsync(settings, HandleAsync, ofTheBus);
        }
        finally
        {
            context.Save(ofTheBus);
        }

        Task HandleAsync(CancellationToken inTime)
        {
            context.Save(inTime);
            return next();
        }
    }
}
