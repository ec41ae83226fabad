using System.Runtime.CompilerServices;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage;

namespace Kit.Runner.Rounds;

/// <summary>
/// The rounds of a run that another process requests, one by one: the run reports that it is ready, and reads a round's number and cell
/// as a line from its standard input. So two runs take turns, each in one process from its first round to its last.
/// </summary>
internal static class Turns
{
    /// <summary>The option of <c>run</c> that asks for it.</summary>
    public const string Option = "--in-turns";

    /// <summary>The line that says that the last round is saved and the run waits for the next.</summary>
    public const string Ready = "ready";

    /// <summary>The line that ends the run.</summary>
    public const string End = "end";

    /// <summary>The line that requests a round.</summary>
    public static string LineOf(CellName cell, int round) => $"{Figures.Plain(round)} {cell}";

    /// <summary>Reads the requested rounds, up to the line that ends them.</summary>
    /// <param name="output">Receives a line before each line is read.</param>
    /// <exception cref="KitException">A line is not a round of these cells, or the input ends without the line that ends the run.</exception>
    public static async IAsyncEnumerable<(Cell Cell, int Round)> ReadAsync(
        TextReader input, TextWriter output, IReadOnlyCollection<Cell> cells, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var known = cells.ToDictionary(cell => Provenance.NameOf(cell).ToString(), StringComparer.Ordinal);
        while (true)
        {
            await output.WriteLineAsync(Ready);
            await output.FlushAsync(cancellationToken);
            // A read from the console cannot be cancelled once it waits.
            var line = await Task.Run(() => input.ReadLineAsync(CancellationToken.None).AsTask(), CancellationToken.None).WaitAsync(cancellationToken);
            switch (line?.Split(' ', count: 2))
            {
                case [End]:
                    yield break;
                case [var number, var name] when NumberOf(number) is { } round && known.TryGetValue(name, out var cell):
                    yield return (cell, round);
                    break;
                default:
                    throw new KitException(
                        line is null ? "The process that requested the rounds has ended." : $"'{line}' is not a round of this run.",
                        $"{Option} is for the command 'compare', which requests the rounds.");
            }
        }
    }

    private static int? NumberOf(string text) => int.TryParse(text, out var number) && number > 0 ? number : null;
}
