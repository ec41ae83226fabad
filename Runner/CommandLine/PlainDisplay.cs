using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Runner.CommandLine;

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

    // A round gets its line when it ends.
    public IProgress<int> Round(string name, int messages)
    {
        progress.Begin();
        return new Direct(_ => { });
    }

    public void Finished(string line, int done, int planned)
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
