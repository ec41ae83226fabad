namespace Kit.Tests.Documentation;

/// <summary>The words of the field that no dictionary has.</summary>
/// <param name="Words">One for each line of the file.</param>
internal sealed record WordList(IReadOnlyList<string> Words)
{
    public const string File = "Tests/Documentation/words.txt";

    private readonly HashSet<string> words = new(Words, StringComparer.Ordinal);

    public static WordList Read() => new(System.IO.File.ReadAllLines(Path.Combine(RepositoryFiles.Root, File)));

    /// <summary>A sentence for each word that is neither in the dictionary nor in the list: the place, the word and what to do.</summary>
    /// <param name="texts">What is checked.</param>
    /// <param name="unknown">The words that the dictionary does not have.</param>
    public IEnumerable<string> MistakesIn(IEnumerable<Prose> texts, IReadOnlySet<string> unknown) =>
        from text in texts
        from word in text.Words()
        where unknown.Contains(word.Text) && EntryOf(word.Text) is null
        select $"{word.File}:{word.Line}: the dictionary has no '{word.Text}'. Correct it, or add it to {File} if the field uses it.";

    /// <summary>A sentence for each word that could be removed from the list.</summary>
    public IEnumerable<string> UnusedIn(IEnumerable<Prose> texts)
    {
        var used = texts.SelectMany(text => text.Words()).Select(word => EntryOf(word.Text)).ToHashSet(StringComparer.Ordinal);
        return from word in Words.Index()
               where !used.Contains(word.Item)
               select $"{File}:{word.Index + 1}: no text contains '{word.Item}'. Remove it.";
    }

    /// <summary>A word of small letters may begin a sentence.</summary>
    private string? EntryOf(string word)
    {
        var small = char.ToLowerInvariant(word[0]) + word[1..];
        return words.Contains(word) ? word : words.Contains(small) ? small : null;
    }
}
