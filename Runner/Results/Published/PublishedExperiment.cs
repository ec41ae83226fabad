using System.Globalization;

namespace Kit.Runner.Results.Published;

/// <summary>An experiment that others have published: their figures, and the command of the kit that repeats it. Each is a file in this folder.</summary>
/// <param name="Name">As it is typed, and the name of its block on the pages.</param>
/// <param name="Question">What it asked.</param>
/// <param name="Source">Who measured what, on what, and when.</param>
/// <param name="Rows">The published figures.</param>
/// <param name="Base">The row that the others are divided by: absolute figures of another machine and year say nothing.</param>
/// <param name="Command">The arguments of the runner that repeat it, in full.</param>
/// <param name="Differences">What is different here, a sentence each.</param>
public sealed record PublishedExperiment(
    string Name, string Question, string Source, IReadOnlyList<PublishedRow> Rows, PublishedRow Base, IReadOnlyList<string> Command,
    IReadOnlyList<string> Differences)
{
    /// <summary>The same in about a minute, to see that it works.</summary>
    public IReadOnlyList<string> QuickCommand => [.. Command, "--quick"];

    /// <summary>A new one is a file in this folder, and its line here.</summary>
    public static IReadOnlyList<PublishedExperiment> All { get; } = [NServiceBus2014.Plan];

    /// <param name="name">As typed.</param>
    /// <returns><see langword="null"/> if there is none of that name.</returns>
    public static PublishedExperiment? Find(string name) => All.FirstOrDefault(one => string.Equals(one.Name, name, StringComparison.Ordinal));
}

/// <summary>A row of a published table.</summary>
/// <param name="Title">As it was published.</param>
/// <param name="PerSecond">Messages per second.</param>
/// <param name="Cell">The kit's cell that repeats it.</param>
public sealed record PublishedRow(string Title, double PerSecond, string Cell)
{
    /// <summary>The figure with the digits that were published.</summary>
    public string Figure => PerSecond.ToString(CultureInfo.InvariantCulture);
}
