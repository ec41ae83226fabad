using Kit.Runner.Results;

namespace Kit.Benchmarks.Seeding;

/// <summary>Seconds of every round. The quicker of psql's formats counts.</summary>
internal sealed class SeedingTable
{
    private readonly List<(double Kit, double Text, double Binary)> rounds = [];

    public void Add(double kit, double text, double binary) => rounds.Add((kit, text, binary));

    public void Write(TextWriter output, int rows)
    {
        var table = new PlainTable($"{Figures.Count(rows)} rows, seconds", "round", "kit", "psql text", "psql binary", "kit/quicker psql");
        foreach (var (index, round) in rounds.Index())
            Add(Figures.Plain(index + 1), round.Kit, round.Text, round.Binary);

        Add("median", MedianOf(round => round.Kit), MedianOf(round => round.Text), MedianOf(round => round.Binary));
        table.Write(output);

        void Add(string name, double kit, double text, double binary) => table.Add(
            name, Figures.Measured(kit), Figures.Measured(text), Figures.Measured(binary), Figures.Measured(kit / Math.Min(text, binary)));
    }

    private double MedianOf(Func<(double Kit, double Text, double Binary), double?> seconds) => Median.Of(rounds.Select(seconds))!.Value;
}
