using System.Data.Common;
using Kit.Handlers;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using Wolverine.EntityFrameworkCore;
using Wolverine.EntityFrameworkCore.Internals;
using Wolverine.Runtime;
using Wolverine.Runtime.Handlers;

namespace Kit.Endpoints.Cells;

/// <summary>
/// Calls the kit's handler as code does that <c>codegen write</c> of Wolverine writes, so that no process that is measured compiles anything. Wolverine looks
/// for such code by the type of the message, and one assembly can have it for one mode.
/// </summary>
internal abstract class WolverineHandler : MessageHandler
{
    public abstract override Task HandleAsync(MessageContext context, CancellationToken cancellation);

    protected static BuildWidget MessageOf(MessageContext context) => (BuildWidget)context.Envelope!.Message!;
}

/// <summary><c>scope-off</c>: the handler opens a connection of its own.</summary>
internal sealed class WolverineHandlerOnItsOwn : WolverineHandler
{
    public override async Task HandleAsync(MessageContext context, CancellationToken cancellation)
    {
        await using var connections = new OwnConnection(context.Runtime.Services.GetRequiredService<NpgsqlDataSource>());
        await context.Runtime.Services.GetRequiredService<HandleMessage>()(
            MessageOf(context), new WolverineContext(context, connections), cancellation).ConfigureAwait(false);
    }

    private sealed class OwnConnection(NpgsqlDataSource data) : IConnections, IAsyncDisposable
    {
        private NpgsqlConnection? own;

        public async ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => own ??= await data.OpenConnectionAsync(cancellationToken);

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbTransaction?>(null);

        public ValueTask DisposeAsync() => own?.DisposeAsync() ?? ValueTask.CompletedTask;
    }
}

/// <summary><c>outbox</c>: the handler works on the connection and in the transaction of the <see cref="DbContext"/> that it takes.</summary>
internal sealed class WolverineHandlerInItsTransaction : WolverineHandler
{
    public override async Task HandleAsync(MessageContext context, CancellationToken cancellation)
    {
        await using var scope = context.Runtime.Services.GetRequiredService<IServiceScopeFactory>().CreateAsyncScope();
        var data = scope.ServiceProvider.GetRequiredService<WolverineData>();
        var transaction = new EfCoreEnvelopeTransaction(data, context, scope.ServiceProvider.GetServices<IDomainEventScraper>());
        await context.EnlistInOutboxAsync(transaction).ConfigureAwait(false);
        await data.Database.BeginTransactionAsync(cancellation).ConfigureAwait(false);
        try
        {
            await context.Runtime.Services.GetRequiredService<HandleMessage>()(
                MessageOf(context), new WolverineContext(context, new LentConnection(data)), cancellation).ConfigureAwait(false);
            await data.SaveChangesAsync(cancellation).ConfigureAwait(false);
            await transaction.CommitAsync(cancellation, flushOutgoingMessages: false).ConfigureAwait(false);
            await EfCoreOutboxFlushing.FlushOutgoingMessagesAsync(context).ConfigureAwait(false);
        }
        catch
        {
            await transaction.RollbackAsync().ConfigureAwait(false);
            throw;
        }
    }

    private sealed class LentConnection(WolverineData data) : IConnections
    {
        public ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => ValueTask.FromResult(data.Database.GetDbConnection());

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) =>
            ValueTask.FromResult(data.Database.CurrentTransaction?.GetDbTransaction());
    }
}

/// <summary>The context in whose transaction handlers work. Its only tables are those that Wolverine adds to it: the inbox and the outbox.</summary>
internal sealed class WolverineData(DbContextOptions<WolverineData> options) : DbContext(options);
