namespace Kit.Runner.Results.Loads;

/// <summary>The result of a search for the highest sustained rate of a cell, and the loads at fractions of that rate.</summary>
/// <param name="Best">The load with the highest sustained rate; <see langword="null"/>: no tried rate was sustained.</param>
/// <param name="Next">The last try of the lowest rate above it; <see langword="null"/>: none was tried.</param>
/// <param name="Below">Loads at fractions of the highest rate, from low to high.</param>
public sealed record FoundRate(CellName Cell, LoadResult? Best, LoadResult? Next, IReadOnlyList<LoadResult> Below)
{
    /// <summary>
    /// The reasons why <see cref="Next"/>, or, if no rate was sustained, each rate shows nothing: the endpoint may sustain more. Empty if one shows something.
    /// </summary>
    public IReadOnlyList<string> WhyMaybeHigher { get; init; } = [];

    /// <summary>True if a rate was sustained, and every load at a fraction of it is valid. At rates that are too high, messages fail.</summary>
    public bool IsWhole => Best is not null && Below.All(result => result.Outcome.IsValid());

    /// <summary>True if a rate was found for each cell, and there is one. False if no rate was searched.</summary>
    public static bool AreWhole(LoadDocument document) => In(document) is { Count: > 0 } found && found.All(rate => rate.IsWhole);

    /// <summary>The found rates of each cell; none if no rate was searched.</summary>
    public static IReadOnlyList<FoundRate> In(LoadDocument document)
    {
        if (document.Settings.LimitMilliseconds is not { } limit)
            return [];

        return
        [
            .. from result in document.Results
               group result by result.Cell into tried
               let search = tried.Where(one => one.ShareOfFound is null).ToList()
               let best = search.Where(one => one.ReasonsAgainst(limit).Count == 0).MaxBy(one => one.Rate)
               let next = best is null ? null : search.Where(one => one.Rate > best.Rate).Reverse().MinBy(one => one.Rate)
               select new FoundRate(
                   tried.Key, best, next, [.. tried.Where(one => one.ShareOfFound is not null).OrderBy(one => one.Rate)])
               {
                   WhyMaybeHigher = WhyNothingIsShownBy(best is null ? search : search.FindAll(one => one == next), limit),
               },
        ];
    }

    private static List<string> WhyNothingIsShownBy(List<LoadResult> loads, double limit)
    {
        var reasons = loads.ConvertAll(load => load.WhyNothingIsShown(limit));
        return reasons.Contains(null) ? [] : [.. reasons.OfType<string>().Distinct()];
    }
}
