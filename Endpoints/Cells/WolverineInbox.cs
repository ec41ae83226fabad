using JasperFx.Resources;
using Microsoft.Extensions.Hosting;
using Npgsql;
using Wolverine;
using Wolverine.Postgresql;

namespace Kit.Endpoints.Cells;

/// <summary>Wolverine's inbox in a database, as it is seen from outside.</summary>
internal static class WolverineInbox
{
    private const string Table = $"{WolverineNames.Schema}.{WolverineNames.Inbox}";

    /// <summary>The rows of messages that are not handled, of the queue whose address is the first parameter. Their <c>body</c> is an envelope.</summary>
    public const string Unhandled = $"{Table} WHERE received_at = $1 AND status <> 'Handled'";

    /// <summary>The table of dead letters.</summary>
    public const string DeadLetters = $"{WolverineNames.Schema}.{WolverineNames.DeadLetters}";

    /// <summary>Lets Wolverine create inbox and outbox, if they are missing.</summary>
    /// <param name="source">Connections to the database.</param>
    /// <param name="connectionString">The address of the database.</param>
    public static async Task CreateAsync(NpgsqlDataSource source, string connectionString, CancellationToken cancellationToken)
    {
        await using var look = source.CreateCommand($"SELECT to_regclass('{DeadLetters}') IS NOT NULL AND to_regclass('{Table}') IS NOT NULL");
        if (await look.ExecuteScalarAsync(cancellationToken) is true)
            return;

        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        application.Services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            WolverineEndpoint.SetForComparison(wolverine);
            wolverine.PersistMessagesWithPostgresql(connectionString, WolverineNames.Schema);
        });
        var host = application.Build();
        await using ((IAsyncDisposable)host)
            await host.SetupResources(cancellationToken);
        TransportPool.Close(connectionString);
    }
}
