namespace Kit.Runner.Results;

/// <summary>The least length of a run's rounds, and the messages that each cell drains in that time.</summary>
/// <param name="Seconds">Least length. A round that would be shorter drains a multiple of the messages.</param>
/// <param name="Cells">Messages of each round of a cell, after its trial drain. All its rounds have as many.</param>
public sealed record RoundLength(double Seconds, IReadOnlyList<CellMessages> Cells)
{
    /// <summary>Extra share of messages: rounds differ in their rate, and a faster one than the trial should still be long enough.</summary>
    public const double Reserve = 0.1;

    /// <summary>The messages of a cell's rounds.</summary>
    /// <param name="trial">The drain of these by the cell; <see langword="null"/> if it failed.</param>
    /// <returns>As many if the trial took long enough or failed, or a multiple of them.</returns>
    public int MessagesAfter(int messages, Throughput? trial)
    {
        if (trial is not { AveragePerSecond: { } rate, ElapsedSeconds: { } elapsed } || elapsed >= Seconds)
            return messages;

        var multiple = Math.Ceiling(Seconds * (1 + Reserve) * rate / messages);
        return messages * (int)Math.Min(multiple, Math.Floor((double)int.MaxValue / messages));
    }

    /// <summary>The length in words, for a reader.</summary>
    public string Text()
    {
        var sizes = Cells.GroupBy(cell => cell.Messages).OrderBy(same => same.Key).Select(same =>
            $"{Figures.Count(same.Key)} messages in {Figures.Plain(same.Count())} {(same.Count() == 1 ? "cell" : "cells")}");
        return $"at least {Figures.Measured(Seconds)} s: cells whose rounds would be shorter drain a multiple of the messages, chosen by a trial drain " +
               $"before the first round; {(Cells.Count == 0 ? "no trial was made" : string.Join(", ", sizes))}";
    }
}

/// <summary>Messages that each round of a cell drains.</summary>
public sealed record CellMessages(CellName Cell, int Messages);
