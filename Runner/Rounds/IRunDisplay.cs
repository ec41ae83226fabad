using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>Shows the progress of a run.</summary>
internal interface IRunDisplay
{
    /// <summary>Shows something that has no count.</summary>
    void Note(string what);

    /// <summary>The template is being filled.</summary>
    IProgress<int> Seeding(int rows);

    /// <summary>What will be measured, before the first round.</summary>
    /// <param name="cells">The names of the cells.</param>
    /// <param name="rounds">How many rounds each cell has.</param>
    /// <param name="isAtMost">Whether the run may end after fewer.</param>
    /// <param name="finished">The rounds that were measured before the run was resumed.</param>
    void Plan(IReadOnlyList<string> cells, int rounds, bool isAtMost, IReadOnlyList<FinishedRound> finished);

    /// <summary>A round begins. Its progress is reported while its clock runs.</summary>
    /// <param name="cell">The name of its cell.</param>
    /// <param name="number">From 1; 0 for a trial.</param>
    /// <param name="name">The round, for a reader.</param>
    /// <param name="messages">How many it drains.</param>
    IProgress<int> Round(string cell, int number, string name, int messages);

    /// <summary>A round, or a pair of them, has ended and is saved.</summary>
    /// <param name="line">Its result, in one line.</param>
    /// <param name="round">The same for a table.</param>
    /// <param name="done">How many have finished.</param>
    /// <param name="planned">How many there will be.</param>
    void Finished(string line, FinishedRound round, int done, int planned);
}

/// <summary>How a round ended.</summary>
internal enum RoundMark
{
    Valid,
    Noisy,
    Failed,
}

/// <summary>A round that has ended.</summary>
/// <param name="Cell">The name of its cell.</param>
/// <param name="Number">From 1.</param>
/// <param name="Mark">How it ended.</param>
/// <param name="PerSecond">Its rate; <see langword="null"/>: none to show.</param>
internal sealed record FinishedRound(string Cell, int Number, RoundMark Mark, double? PerSecond)
{
    public static FinishedRound Of(RoundDocument round) => new(
        round.Cell.ToString(),
        round.Round,
        !round.Outcome.IsValid() ? RoundMark.Failed : round.Noise.IsNoisy() ? RoundMark.Noisy : RoundMark.Valid,
        round.Throughput.AveragePerSecond);

    /// <summary>A pair is as good as the worse of its rounds, and has two rates.</summary>
    public static FinishedRound OfPair(RoundDocument one, RoundDocument other) =>
        Of(one) with { Mark = (RoundMark)Math.Max((int)Of(one).Mark, (int)Of(other).Mark), PerSecond = null };
}
