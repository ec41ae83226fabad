using System.Data.Common;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The settings of all bare cells, on every transport, and the handler behind the bare endpoint's interface.</summary>
internal static class BareCells
{
    public static BareEndpointBuilder BuildWidgets(this BareEndpointBuilder endpoint, EndpointSettings settings) => endpoint
        .UseTransactionMode(settings.Mode)
        .LimitConcurrency(settings.Concurrency)
        .LimitTransactions(settings.TransactionTimeout)
        .FlushLog(settings.Flush)
        .ReceiveInBatches(settings.BatchSize)
        .ReceiveAhead(settings.ReceivesAhead)
        .Handle<BuildWidget, BuildWidgetHandler>();

    /// <summary>The lines that set an endpoint's queue and mode.</summary>
    /// <param name="use">The call that gives it its queue.</param>
    public static IReadOnlyList<string> CodeOf(string use, TransactionMode mode) => [$".{use}", $".UseTransactionMode({ModeInCode.Of(mode)})"];

    private sealed class BuildWidgetHandler(HandleMessage handle) : IMessageHandler<BuildWidget>
    {
        public Task HandleAsync(BuildWidget message, MessageContext context, CancellationToken cancellationToken) =>
            handle(message, new Adapter(context), cancellationToken);
    }

    private sealed class Adapter(MessageContext context) : IMessageContext
    {
        public ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => context.GetConnectionAsync(cancellationToken);

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => context.GetTransactionAsync(cancellationToken);

        public Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken) =>
            context.SendAsync(queue, message, message.MessageId, cancellationToken: cancellationToken);

        public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken) =>
            context.ReplyAsync(message, message.MessageId, cancellationToken: cancellationToken);

        public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken) =>
            context.PublishAsync(message, message.MessageId, cancellationToken: cancellationToken);
    }
}
