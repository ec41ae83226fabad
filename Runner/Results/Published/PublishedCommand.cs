namespace Kit.Runner.Results.Published;

/// <summary>How long an experiment is repeated.</summary>
public enum ExperimentLength
{
    /// <summary>About a minute, to see that it works.</summary>
    Quick,

    /// <summary>Some minutes.</summary>
    Scaled,

    /// <summary>Minutes to hours for each command, up to what was published.</summary>
    Full,
}

/// <summary>A command of the kit that repeats some published figures.</summary>
/// <param name="Name">The folder of its results, within that of the experiment.</param>
/// <param name="Common">Its arguments at every length. The first is the command.</param>
/// <param name="Quick">Those that make it quick.</param>
/// <param name="Scaled">Those that make it take minutes.</param>
/// <param name="Full">Those that make it take up to hours.</param>
public sealed record PublishedCommand(
    string Name, IReadOnlyList<string> Common, IReadOnlyList<string> Quick, IReadOnlyList<string> Scaled, IReadOnlyList<string> Full)
{
    /// <summary>Its arguments.</summary>
    public IReadOnlyList<string> At(ExperimentLength length) =>
    [
        .. Common,
        .. length switch
        {
            ExperimentLength.Quick => Quick,
            ExperimentLength.Scaled => Scaled,
            ExperimentLength.Full => Full,
            _ => throw new InvalidOperationException($"No command is of length {length}."),
        },
    ];
}
