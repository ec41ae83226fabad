namespace Kit.Runner.Results.Published;

/// <summary>The length of an experiment's repetition.</summary>
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
/// <param name="Name">Folder of its results, within that of the experiment.</param>
/// <param name="Common">The arguments at every length. The first word is the command.</param>
/// <param name="Scaled">Arguments with which it takes minutes.</param>
/// <param name="Full">Arguments with which it takes up to hours.</param>
public sealed record PublishedCommand(string Name, string Common, string Quick, string Scaled, string Full)
{
    /// <summary>Its arguments.</summary>
    public IReadOnlyList<string> At(ExperimentLength length)
    {
        var own = length switch
        {
            ExperimentLength.Quick => Quick,
            ExperimentLength.Scaled => Scaled,
            ExperimentLength.Full => Full,
            _ => throw new InvalidOperationException($"No command is of length {length}."),
        };
        return $"{Common} {own}".Split(' ', StringSplitOptions.RemoveEmptyEntries);
    }
}
