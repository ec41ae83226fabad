using System.CommandLine;
using Kit.Runner;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Seeding;

/// <summary><c>seeding</c>: the kit's seeding next to psql's <c>\copy</c> of the same rows.</summary>
internal sealed class SeedingCommand : Command
{
    private readonly Option<int> rounds = CountOption.Rounds(3);
    private readonly Option<int> seedRows = CountOption.SeedRows();

    public SeedingCommand()
        : base("seeding", """
            The kit's seeding against psql's \copy of the same rows from a file, text and binary, into the same table on the same server; one
            after the other in each round, in alternating order.

            Examples:
              seeding
              seeding --rounds 1 --seed-rows 100000      to see that it works
            """)
    {
        Options.Add(rounds);
        Options.Add(seedRows);
        SetAction((parsed, cancellationToken) => RunAsync(parsed.GetValue(rounds), parsed.GetValue(seedRows), Console.Out, cancellationToken));
    }

    private static async Task<int> RunAsync(int rounds, int rows, TextWriter output, CancellationToken cancellationToken)
    {
        var psql = new Psql(await ClientProgram.FindAsync("psql", cancellationToken));
        var folder = Directory.CreateTempSubdirectory("kit-seeding-");
        try
        {
            await using var server = await BenchmarkServer.StartAsync(rows, output, cancellationToken);
            var (text, binary) = (Path.Combine(folder.FullName, "widget.text"), Path.Combine(folder.FullName, "widget.binary"));
            await using (var seeded = await server.Databases.RestoreAsync(cancellationToken))
            {
                await psql.ExportAsync(seeded.Widgets, text, "text", cancellationToken);
                await psql.ExportAsync(seeded.Widgets, binary, "binary", cancellationToken);
            }

            var contestants = new (string Name, Func<KitDatabases, Task<TimeSpan>> SeedAsync)[]
            {
                ("kit", databases => databases.SeedAsync(rows, new Unseen(), cancellationToken)),
                ("psql text", databases => CopyAsync(databases, text, "text")),
                ("psql binary", databases => CopyAsync(databases, binary, "binary")),
            };
            var table = new SeedingTable();
            for (var round = 1; round <= rounds; round++)
            {
                var times = new Dictionary<string, double>();
                foreach (var (name, seedAsync) in round % 2 == 0 ? contestants.Reverse() : contestants)
                {
                    await WidgetTable.SettleAsync(server.ConnectionString, cancellationToken);
                    await using var databases = new KitDatabases(server.ConnectionString);
                    times[name] = (await seedAsync(databases)).TotalSeconds;
                    await output.WriteLineAsync($"round {round} of {rounds}, {name}: {Figures.Measured(times[name])} s");
                }

                table.Add(times["kit"], times["psql text"], times["psql binary"]);
            }

            table.Write(output, rows);
            return ExitCode.Success;
        }
        finally
        {
            folder.Delete(recursive: true);
        }

        // The kit's own template without rows: the same table, primary key included.
        async Task<TimeSpan> CopyAsync(KitDatabases databases, string file, string format)
        {
            await databases.SeedAsync(rows: 0, new Unseen(), cancellationToken);
            await using var empty = await databases.RestoreAsync(cancellationToken);
            var time = await psql.ImportAsync(empty.Widgets, file, format, cancellationToken);
            await using var widgets = new WidgetTable(empty.Widgets);
            var found = await widgets.CountAsync(cancellationToken);
            return found == rows ? time : throw new KitException($"psql copied {found} of {rows} rows.", "See the server's log.");
        }
    }
}
