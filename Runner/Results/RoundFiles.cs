using Kit.Guarantees;

namespace Kit.Runner.Results;

/// <summary>
/// The rounds of a run: each is a line of <c>rounds.jsonl</c>, and its commits are a block of <c>moments.bin</c>. The block is
/// appended first, so that no line is without its block.
/// </summary>
internal sealed class RoundFiles
{
    public const string LinesFile = "rounds.jsonl";
    public const string MomentsFile = "moments.bin";

    private readonly string linesPath;
    private readonly string momentsPath;
    private readonly JsonLines lines;
    private readonly MomentsFile moments;

    public RoundFiles(string folder)
    {
        (linesPath, momentsPath) = (Path.Combine(folder, LinesFile), Path.Combine(folder, MomentsFile));
        (lines, moments) = (new JsonLines(linesPath), new MomentsFile(momentsPath));
    }

    /// <exception cref="KitException">It cannot be appended; the existing content is untouched.</exception>
    public void Append(RoundDocument round)
    {
        moments.Append(MomentBlock.Of(round));
        lines.Append(round);
    }

    /// <summary>Replaces both files.</summary>
    /// <exception cref="KitException">A file cannot be written.</exception>
    public void Write(IReadOnlyList<RoundDocument> rounds)
    {
        WholeFile.WriteBytes(momentsPath, stream =>
        {
            foreach (var round in rounds)
                stream.Write(MomentBlock.Of(round).ToBytes());
        });
        WholeFile.Write(linesPath, writer =>
        {
            foreach (var round in rounds)
                writer.Write(JsonLines.LineOf(round));
        });
    }

    /// <summary>The rounds in the order in which they ended, and a text about the remains of a round that was being saved when its process died.</summary>
    /// <exception cref="KitException">A file is damaged anywhere else, or of another schema; the message names file and place.</exception>
    public (IReadOnlyList<RoundDocument> Rounds, string? LeftOut) Read()
    {
        var (whole, isLastCut) = lines.Read();
        var (blocks, wrong) = moments.Read();
        var rounds = whole.Select((line, index) => RoundOf(line.Text, line.Place, blocks.ElementAtOrDefault(index), wrong)).ToList();
        if (rounds.GroupBy(IdentityOf).FirstOrDefault(same => same.Skip(1).Any()) is { } twice)
            throw StoredJson.Damaged(linesPath, $"{twice.First().Name} appears in it twice");

        var without = blocks.Skip(rounds.Count).ToList();
        if (without.Count > 1 || (without.Count == 1 && wrong is not null))
        {
            throw StoredJson.Damaged(
                linesPath, $"{momentsPath} has moments of {Figures.Plain(without.Count)} more rounds, but a process that dies leaves at most one");
        }

        return (rounds, without.Count == 1
            ? $"{NameOf(without[0])} is left out: the process ended while saving the round, and {LinesFile} has no line for it."
            : wrong is null && !isLastCut
                ? null
                : "A round is left out: the process ended while saving it " +
                  $"({(isLastCut ? $"{LinesFile}: the last line has no end" : $"{MomentsFile}: {wrong}")}).");
    }

    private RoundDocument RoundOf(string text, string place, MomentBlock? block, string? wrong)
    {
        var round = StoredJson.Read<RoundDocument>(text, place);
        if (block is null)
            throw StoredJson.Damaged(momentsPath, wrong ?? $"it has no moments for {round.Name} ({place})");
        if ((block.Cell, block.Round, block.Attempt) != IdentityOf(round))
            throw StoredJson.Damaged(momentsPath, $"it has moments of {NameOf(block)} where {place} has {round.Name}");
        if (WhyNotValid(round, block) is { } contradiction)
            throw StoredJson.Damaged(linesPath, $"{round.Name} is marked valid, but {contradiction} ({place})");

        return round with { OffsetsMilliseconds = [.. block.Microseconds.Select(moment => moment / Throughput.MicrosecondsPerMillisecond)] };
    }

    /// <summary>A contradiction in a round that is marked valid; <see langword="null"/> if there is none.</summary>
    private static string? WhyNotValid(RoundDocument round, MomentBlock block)
    {
        var once = round.Accounts.GetValueOrDefault(DeliveryClass.Once);
        return !round.Outcome.IsValid() ? null
            : once != round.Messages ? $"{Figures.Plain(once)} of its {Figures.Plain(round.Messages)} messages were handled once"
            : block.Microseconds.Count != round.Messages
                ? $"it has {Figures.Plain(block.Microseconds.Count)} commits of {Figures.Plain(round.Messages)} messages"
            : round.Handled is { } handled && handled != round.Messages
                ? $"handlers returned {Figures.Plain(handled)} times for {Figures.Plain(round.Messages)} messages"
            : round.HandlerEntries < round.Messages
                ? $"handlers were entered {Figures.Plain(round.HandlerEntries)} times for {Figures.Plain(round.Messages)} messages"
            : null;
    }

    private static (string Cell, int Round, int Attempt) IdentityOf(RoundDocument round) => (round.Cell.ToString(), round.Round, round.Attempt);

    private static string NameOf(MomentBlock block) => RoundDocument.NameOf(block.Cell, block.Round, block.Attempt);
}
