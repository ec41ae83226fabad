using System.Diagnostics;
using System.Globalization;
using Kit.Benchmarks.Floor;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Runner.Loads;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Npgsql;

namespace Kit.Benchmarks.Latencies;

/// <summary>
/// A load without the kit's senders and without its clock: pgbench sends, and a statement computes the latencies until the commit timestamp of a message's
/// row, from the moment at which pgbench was to send it, as its log says, and from the message's commit timestamp. Both rows are in one database, so the cell
/// must be of a mode that needs one.
/// </summary>
/// <param name="program">pgbench.</param>
/// <param name="cell">The cell whose endpoint receives.</param>
/// <param name="servers">Have its server.</param>
/// <param name="plan">What it shares with <c>load</c>.</param>
internal sealed class PgbenchLoad(ClientProgram program, Cell cell, ServersInUse servers, LoadPlan plan)
{
    private static readonly TimeSpan ToEnd = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(100);

    public static string Script => Path.Combine(AppContext.BaseDirectory, "pgbench", "send-to-queue.sql");

    /// <summary>Runs it.</summary>
    /// <param name="rate">Messages a second, on average: pgbench draws the pauses.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <exception cref="KitException">A message was not handled exactly once, or not in time.</exception>
    public async Task<PgbenchLatencies> RunAsync(double rate, CancellationToken cancellationToken)
    {
        await using var stage = await CellStage.OpenAsync(cell, servers, new StageOptions(StageRows.Restored), cancellationToken);
        var (restored, queue) = (stage.Databases, stage.Queue);
        await restored.PrepareAsync(
            """
            CREATE TABLE sent (client int NOT NULL, number int NOT NULL, message_id uuid PRIMARY KEY);
            CREATE TABLE logged (
                client int, number bigint, elapsed_us bigint, script int, ended_s bigint, ended_us bigint, lag_us bigint)
            """,
            cancellationToken);
        await using var handler = await HandlerProcess.StartAsync(stage.HandlersOf(plan.Concurrency) with { KeepsPhases = false }, cancellationToken);
        await handler.StartEndpointAsync(messages: 0, cancellationToken);
        await queue.PreloadAsync(Enumerable.Range(0, plan.WarmUp).Select(_ => cell.Size.NewMessage()), cancellationToken);
        await UntilEmptyAsync(queue, cancellationToken);

        var logs = Directory.CreateTempSubdirectory("kit-pgbench-");
        try
        {
            var text = await program.RunAsync(
                restored.WidgetsForRunner,
                [
                    "-n", "-M", "prepared", "-c", $"{plan.Senders}", "-R", rate.ToString(CultureInfo.InvariantCulture), "-T", $"{plan.Length.TotalSeconds:F0}",
                    "-D", "number=0", "-l", "--log-prefix", Path.Combine(logs.FullName, "log"), "-f", Script,
                ],
                cancellationToken);
            await UntilEmptyAsync(queue, cancellationToken);
            await handler.StopEndpointAsync(cancellationToken);
            // One thread of pgbench writes one file.
            return await ReadAsync(restored.WidgetsForRunner, logs.EnumerateFiles().Single(), PgbenchReport.Parse(text).Processed, cancellationToken);
        }
        finally
        {
            logs.Delete(recursive: true);
        }
    }

    private static async Task UntilEmptyAsync(IMessageQueue queue, CancellationToken cancellationToken)
    {
        for (var watch = Stopwatch.StartNew(); await queue.CountAsync(cancellationToken) > 0; await Task.Delay(Look, cancellationToken))
        {
            if (watch.Elapsed > ToEnd)
                throw new KitException($"The queue was not empty after {ToEnd.TotalSeconds} s.", "Name a lower --rate.");
        }
    }

    private static async Task<PgbenchLatencies> ReadAsync(string widgets, FileInfo log, int sent, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(widgets);
        await using (var connection = await source.OpenConnectionAsync(cancellationToken))
        await using (var copy = await connection.BeginTextImportAsync("COPY logged FROM STDIN (DELIMITER ' ')", cancellationToken))
        using (var text = log.OpenText())
            await copy.WriteAsync((await text.ReadToEndAsync(cancellationToken)).AsMemory(), cancellationToken);

        // With a rate, pgbench's elapsed time begins when the transaction was to begin.
        await using var command = source.CreateCommand(
            """
            SELECT count(*)::int,
                percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY extract(epoch FROM handled - due)::float8 * 1000),
                percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY extract(epoch FROM handled - committed)::float8 * 1000),
                percentile_cont(0.5) WITHIN GROUP (ORDER BY lag_us / 1000.0)
            FROM (
                SELECT due, lag_us, pg_xact_commit_timestamp(sent.xmin) AS committed, pg_xact_commit_timestamp(widget.xmin) AS handled
                FROM sent JOIN widget USING (message_id)
                JOIN (
                    SELECT client, row_number() OVER (PARTITION BY client ORDER BY number) AS number,
                        to_timestamp(ended_s) + (ended_us - elapsed_us) * interval '1 microsecond' AS due, lag_us
                    FROM logged) AS log USING (client, number)) AS messages
            """);
        await using var row = await command.ExecuteReaderAsync(cancellationToken);
        await row.ReadAsync(cancellationToken);
        if (row.GetInt32(0) != sent)
            throw new KitException($"pgbench sent {sent} messages, and {row.GetInt32(0)} rows are of them.", "A message must have one row.");

        return new PgbenchLatencies(FiguresIn(1), FiguresIn(2));

        LatencyFigures FiguresIn(int column) => row.GetFieldValue<double[]>(column) is [var median, var high]
            ? new LatencyFigures(median, high, row.GetDouble(3), sent)
            : throw new InvalidOperationException("Two quantiles were asked for.");
    }
}
