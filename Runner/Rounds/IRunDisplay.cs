using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>Shows the progress of a run.</summary>
internal interface IRunDisplay
{
    /// <summary>Shows something that has no count.</summary>
    void Note(string what);

    /// <summary>The template is being filled.</summary>
    IProgress<int> Seeding(int rows);

    /// <summary>Shows the plan of the measured rounds, before the first one.</summary>
    /// <param name="cells">Names of the cells.</param>
    /// <param name="isAtMost">True if the run may end after fewer.</param>
    /// <param name="finished">Measured before the run was resumed.</param>
    void Plan(IReadOnlyList<string> cells, int rounds, bool isAtMost, IReadOnlyList<FinishedRound> finished);

    /// <summary>A round begins. Its progress is reported while its clock runs.</summary>
    /// <param name="cell">Name of its cell.</param>
    /// <param name="number">From 1; 0 for a trial.</param>
    /// <param name="name">For a reader.</param>
    /// <param name="messages">Messages that it drains.</param>
    IProgress<int> Round(string cell, int number, string name, int messages);

    /// <summary>A round, or a pair of them, has ended and is saved.</summary>
    /// <param name="done">Finished rounds.</param>
    /// <param name="planned">Rounds in the whole run.</param>
    void Finished(string line, FinishedRound round, int done, int planned);
}

/// <summary>The end of a round.</summary>
internal enum RoundMark
{
    Valid,
    Noisy,
    Failed,
}

/// <summary>A round that has ended.</summary>
/// <param name="Cell">Name of its cell.</param>
/// <param name="Number">From 1.</param>
/// <param name="Mark">The end of the round.</param>
/// <param name="PerSecond"><see langword="null"/>: no rate to show.</param>
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
