using Kit.Handlers;
using Kit.Runner.Results;

namespace Kit.Benchmarks.Floor;

/// <summary>pgbench with the endpoint's two statements. Each client has one connection, so the queue is in the widgets' database.</summary>
/// <param name="database">Connection string of that database.</param>
internal sealed class Pgbench(ClientProgram program, string database, int clients)
{
    public static string Script => Path.Combine(AppContext.BaseDirectory, "pgbench", "receive-and-insert.sql");

    /// <summary>Transactions per second as it reports them for the last drain.</summary>
    public double? OwnPerSecond { get; private set; }

    /// <exception cref="KitException">The drain failed.</exception>
    public async Task DrainAsync(int messages, CancellationToken cancellationToken)
    {
        if (messages == 0)
            return;

        // Ids as the endpoint gives them: ascending, above all seeded ones.
        var text = await program.RunAsync(
            database,
            [
                "-n", "-M", "prepared", "-c", $"{clients}", "-j", $"{clients}", "-t", $"{messages / clients}",
                "-D", $"base={WidgetId.LowestAt(DateTime.UtcNow)}", "-f", Script,
            ],
            cancellationToken);
        var report = PgbenchReport.Parse(text);
        if (report.Failed > 0 || report.Processed != messages)
            throw new KitException(
                $"pgbench processed {report.Processed} of {messages} transactions, {report.Failed ?? 0} failed.",
                "Its clients conflicted: see the server's log.");

        OwnPerSecond = report.PerSecond;
    }
}
