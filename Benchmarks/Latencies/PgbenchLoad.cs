using System.Diagnostics;
using System.Globalization;
using Kit.Benchmarks.Floor;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Runner.Loading;
using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Transports;
using Npgsql;

namespace Kit.Benchmarks.Latencies;

/// <summary>
/// A load without the kit's senders and without its clock: pgbench sends, and a statement computes the latencies from the commit timestamps of the
/// message and of its row. Both are in one database, so the cell must be of a mode that needs one.
/// </summary>
/// <param name="program">pgbench.</param>
/// <param name="cell">The cell whose endpoint receives.</param>
/// <param name="servers">Have its server.</param>
/// <param name="plan">What it shares with <c>load</c>.</param>
internal sealed class PgbenchLoad(ClientProgram program, Cell cell, RunServers servers, LoadPlan plan)
{
    private static readonly TimeSpan ToEnd = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);

    public static string Script => Path.Combine(AppContext.BaseDirectory, "pgbench", "send-to-queue.sql");

    /// <summary>Runs it.</summary>
    /// <param name="rate">Messages a second, on average: pgbench draws the pauses.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="KitException">A message was not handled exactly once, or not in time.</exception>
    public async Task<LatencyFigures> RunAsync(double rate, CancellationToken cancellationToken)
    {
        await using var restored = await servers.WidgetsOf(cell).Store.RestoreAsync(cancellationToken);
        await using var transport = await servers.Of(cell).OpenAsync(cell, RoundTransport.QueueName, restored, cancellationToken);
        await using var queue = cell.Kind.OpenQueue(transport.Queue, transport.ForRunner);
        await queue.CreateAsync(cancellationToken);
        await restored.PrepareAsync("CREATE TABLE sent (message_id uuid PRIMARY KEY)", cancellationToken);
        await using var handler = await HandlerProcess.StartAsync(
            new HandlerSpec(cell.Name, transport.Queue, transport.ForEndpoint, restored.WidgetsForEndpoint, plan.Concurrency, RecordCompletions: false)
            {
                KeepsPhases = false,
            },
            cancellationToken);
        await handler.StartEndpointAsync(messages: 0, cancellationToken);
        await queue.PreloadAsync(Enumerable.Range(0, plan.WarmUp).Select(_ => cell.Size.NewMessage()), cancellationToken);
        await UntilEmptyAsync(queue, cancellationToken);

        var text = await program.RunAsync(
            restored.WidgetsForRunner,
            [
                "-n", "-M", "prepared", "-c", $"{plan.Senders}", "-R", rate.ToString(CultureInfo.InvariantCulture), "-T", $"{plan.Length.TotalSeconds:F0}",
                "-f", Script,
            ],
            cancellationToken);
        await UntilEmptyAsync(queue, cancellationToken);
        await handler.StopEndpointAsync(cancellationToken);
        return await ReadAsync(restored.WidgetsForRunner, PgbenchReport.Parse(text).Processed, cancellationToken);
    }

    private static async Task UntilEmptyAsync(IMessageQueue queue, CancellationToken cancellationToken)
    {
        for (var watch = Stopwatch.StartNew(); await queue.CountAsync(cancellationToken) > 0; await Task.Delay(Look, cancellationToken))
        {
            if (watch.Elapsed > ToEnd)
                throw new KitException($"The queue was not empty after {ToEnd.TotalSeconds} s.", "Name a lower --rate.");
        }
    }

    private static async Task<LatencyFigures> ReadAsync(string widgets, int sent, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(widgets);
        await using var command = source.CreateCommand(
            """
            SELECT count(*)::int, percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY milliseconds) FROM (
                SELECT extract(epoch FROM pg_xact_commit_timestamp(widget.xmin) - pg_xact_commit_timestamp(sent.xmin))::float8 * 1000 AS milliseconds
                FROM sent JOIN widget USING (message_id)) AS handled
            """);
        await using var row = await command.ExecuteReaderAsync(cancellationToken);
        await row.ReadAsync(cancellationToken);
        if (row.GetInt32(0) != sent)
            throw new KitException($"pgbench sent {sent} messages, and {row.GetInt32(0)} rows are of them.", "A message must have one row.");

        var quantiles = row.GetFieldValue<double[]>(1);
        return new LatencyFigures(quantiles[0], quantiles[1], sent);
    }
}
