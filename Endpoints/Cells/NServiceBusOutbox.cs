using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NpgsqlTypes;
using NServiceBus;

namespace Kit.Endpoints.Cells;

/// <summary>
/// NServiceBus's own outbox, in the widgets' database. It uses NServiceBus.Persistence.Sql, as NServiceBus's documentation recommends for
/// PostgreSQL. The defaults apply: ids are kept for 7 days, and a clean-up every minute removes older ones. Compiled only if the feed has the package.
/// </summary>
internal static class NServiceBusOutbox
{
    // PostgreSQL's dialect allows 20 characters.
    private const string Prefix = "Kit_";

    /// <summary>The connection of the outbox's session, for the handlers.</summary>
    public static NServiceBusLentConnection Session { get; } = new(
        context => ValueTask.FromResult(context.SynchronizedStorageSession.SqlPersistenceSession().Connection),
        context => ValueTask.FromResult(context.SynchronizedStorageSession.SqlPersistenceSession().Transaction));

    /// <summary>Configures the outbox of an endpoint.</summary>
    public static void Use(EndpointConfiguration endpoint, IServiceCollection services, EndpointSettings settings)
    {
        var persistence = endpoint.UsePersistence<SqlPersistence>();
        persistence.SqlDialect<SqlDialect.PostgreSql>().JsonBParameterModifier(
            parameter => ((NpgsqlParameter)parameter).NpgsqlDbType = NpgsqlDbType.Jsonb);
        var source = NpgsqlDataSource.Create(settings.Widgets);
        persistence.ConnectionBuilder(source.CreateConnection);
        persistence.TablePrefix(Prefix);
        // The installer runs scripts that the package generates while an application is built. The kit creates the one table itself.
        persistence.DisableInstaller();
        services.AddSingleton<IHostedService>(_ => new OutboxTable(source));
    }

    /// <summary>
    /// Creates the outbox's table, with the columns and indexes of the package's own script (9.0.3). Owns the outbox's connections, because the
    /// host disposes of it after the endpoint.
    /// </summary>
    private sealed class OutboxTable(NpgsqlDataSource source) : IHostedService, IAsyncDisposable
    {
        // The lock keeps processes that start at the same time from creating it twice.
        private const string Create =
            $"""
            SELECT pg_advisory_xact_lock(hashtext('{Prefix}OutboxData'));
            CREATE TABLE IF NOT EXISTS public."{Prefix}OutboxData" (
                "MessageId" varchar(200) PRIMARY KEY,
                "Dispatched" boolean NOT NULL DEFAULT false,
                "DispatchedAt" timestamp,
                "PersistenceVersion" varchar(23),
                "Operations" jsonb NOT NULL);
            CREATE INDEX IF NOT EXISTS "{Prefix}Index_DispatchedAt" ON public."{Prefix}OutboxData" ("DispatchedAt" ASC NULLS LAST);
            CREATE INDEX IF NOT EXISTS "{Prefix}Index_Dispatched" ON public."{Prefix}OutboxData" ("Dispatched" ASC NULLS LAST);
            """;

        public async Task StartAsync(CancellationToken cancellationToken)
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            await using var create = new NpgsqlCommand(Create, connection, transaction);
            await create.ExecuteNonQueryAsync(cancellationToken);
            await transaction.CommitAsync(cancellationToken);
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public ValueTask DisposeAsync() => source.DisposeAsync();
    }
}
