namespace Kit.Endpoints.Bare;

/// <summary>A database whose rows commit with the receive: the handlers' own, or a further one with a name.</summary>
/// <param name="Name">Its name; empty for the handlers' own.</param>
/// <param name="Database">How it is reached.</param>
internal sealed record Participant(string Name, DatabaseAccess Database)
{
    // It is part of a branch's id, for which PostgreSQL has 199 bytes.
    private const int LongestName = 30;

    /// <summary>What messages call it.</summary>
    public string Title => TitleOf(Name);

    public static string TitleOf(string name) => name.Length == 0 ? PoolSizes.Data : $"participant '{name}'";

    public static bool IsName(string name) =>
        name.Length is > 0 and <= LongestName && name.All(one => char.IsAsciiLetterLower(one) || char.IsAsciiDigit(one) || one == '-');

    /// <exception cref="ArgumentException">A branch's id cannot have the name.</exception>
    public static void RequireName(string name)
    {
        if (!IsName(name))
        {
            throw new ArgumentException(
                $"A participant's name has 1 to {LongestName} characters of a to z, 0 to 9 and '-', found '{name}'.", nameof(name));
        }
    }

    /// <summary>What a handler gets that asks for a participant that there is not.</summary>
    /// <param name="name">What it asked for.</param>
    /// <param name="known">The names that there are.</param>
    public static ArgumentException Unknown(string name, IEnumerable<string> known)
    {
        var names = string.Join(", ", known);
        return new ArgumentException(
            $"The endpoint has no participant '{name}'. " + (names.Length == 0 ? "It has none: call AddParticipant." : $"It has: {names}."), nameof(name));
    }
}
