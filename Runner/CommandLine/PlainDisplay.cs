using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Runner.CommandLine;

/// <summary>A run as plain lines, for files and pipes: one for each round, and one for each tenth of a long count.</summary>
internal sealed class PlainDisplay(TextWriter output) : IRunDisplay
{
    private readonly Stopwatch measuring = new();

    public void Note(string what) => output.WriteLine(what);

    public IProgress<int> Count(string what, int total)
    {
        // Rounds have a line of their own when they end.
        if (measuring.IsRunning)
            return new Tenths(_ => { });

        measuring.Start();
        var tenths = 0;
        return new Tenths(count =>
        {
            if (count * 10L / total <= tenths)
                return;

            tenths = (int)(count * 10L / total);
            output.WriteLine($"{what}: {Figures.Count(count)} of {Figures.Count(total)}");
        });
    }

    public void Finished(RoundDocument round, int done, int planned)
    {
        var left = measuring.Elapsed / done * (planned - done);
        output.WriteLine($"{done} of {planned}: {RoundLine.Of(round)}{(done < planned ? $"; about {RoundLine.Duration(left)} left" : "")}");
    }

    // Progress<T> would hand the reports to the thread pool, where they can overtake each other.
    private sealed class Tenths(Action<int> report) : IProgress<int>
    {
        public void Report(int value) => report(value);
    }
}
