using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>A run as plain lines, for files and pipes: one for each round, and one for each quarter of the seeded rows.</summary>
internal sealed class PlainDisplay(TextWriter output) : IRunDisplay
{
    private const int Parts = 4;

    private readonly RunProgress progress = new();

    public void Note(string what) => output.WriteLine(what);

    public IProgress<int> Seeding(int rows)
    {
        var told = 0;
        return new Direct(seeded =>
        {
            var part = (int)((long)seeded * Parts / rows);
            if (part == told)
                return;

            told = part;
            output.WriteLine($"Seeded {Figures.Count(seeded)} of {Figures.Count(rows)} rows.");
        });
    }

    public void Plan(IReadOnlyList<string> cells, int rounds, bool isAtMost, IReadOnlyList<FinishedRound> finished) =>
        progress.Plan(finished.Count, cells.Count * rounds, isAtMost);

    // A round gets its line when it ends.
    public IProgress<int> Round(string cell, int number, string name, int messages)
    {
        progress.Begin(number);
        return new Direct(_ => { });
    }

    public void Finished(string line, FinishedRound round, int done, int planned)
    {
        progress.Finish(done, planned);
        output.WriteLine(progress.LineOf(line));
    }

    // Progress<T> would hand the reports to the thread pool, where they can overtake each other.
    private sealed class Direct(Action<int> report) : IProgress<int>
    {
        public void Report(int value) => report(value);
    }
}
