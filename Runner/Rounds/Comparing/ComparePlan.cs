using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds.Comparing;

/// <summary>The plan of a comparison of two builds, according to its command line.</summary>
/// <param name="After">The build that is judged.</param>
/// <param name="Filters">As typed; each build applies them to its own cells.</param>
/// <param name="Transports">Transports of the cells that this runner chooses by those filters: their servers are needed.</param>
/// <param name="Sizes">Rows, messages and rounds; the rounds are for each cell on each side.</param>
/// <param name="Arguments">The servers; in the place of those not named, the kit starts its own.</param>
/// <param name="CommandLine">As typed, secrets masked.</param>
/// <exception cref="KitException">A server's connection string cannot be read.</exception>
internal sealed record ComparePlan(
    Build Before,
    Build After,
    IReadOnlyList<string> Filters,
    IReadOnlySet<Transport> Transports,
    RunSettings Sizes,
    TransportArguments Arguments,
    Limits Limits,
    string Folder,
    string CommandLine)
{
    public const string ReportFile = "compare.md";

    /// <summary>Each transport with the support for its cells here, as far as that depends on its server.</summary>
    public IReadOnlyDictionary<Transport, Support> Here { get; } = Transport.FindSupport(Arguments);

    /// <summary>The sizes as the options of <c>run</c>.</summary>
    public IReadOnlyList<string> SizesAsTyped =>
    [
        "--rounds", Figures.Plain(Sizes.Rounds), "--messages", Figures.Plain(Sizes.Messages), "--warmup", Figures.Plain(Sizes.WarmUp),
        "--seed-rows", Figures.Plain(Sizes.SeedRows), "--concurrency", Figures.Plain(Sizes.Concurrency),
        "--order-seed", Figures.Plain(Sizes.OrderSeed),
    ];

    public string ReportPath => Path.Combine(Folder, ReportFile);

    /// <summary>
    /// Every pair of rounds: round <i>r</i> has every cell once, in an order drawn from the order seed. A cell's two builds run one right
    /// after the other, and take turns in going first; which one begins is random.
    /// </summary>
    public IEnumerable<(CellName Cell, int Round, bool IsAfterFirst)> Order(IReadOnlyCollection<CellName> cells)
    {
        var random = new Random(Sizes.OrderSeed);
        var firstIsAfter = cells.ToDictionary(cell => cell, _ => random.Next(2) == 1);
        for (var round = 1; round <= Sizes.Rounds; round++)
        {
            var shuffled = cells.ToArray();
            random.Shuffle(shuffled);
            foreach (var cell in shuffled)
                yield return (cell, round, firstIsAfter[cell] == (round % 2 == 1));
        }
    }
}
