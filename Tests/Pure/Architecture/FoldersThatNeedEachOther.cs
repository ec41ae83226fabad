using System.Text.RegularExpressions;

namespace Kit.Tests.Architecture;

/// <summary>
/// A folder needs another one if a file of it names a type that the other one declares, in a namespace that the file sees. Sources are read with regular
/// expressions, so a property with the name of such a type counts, too.
/// </summary>
public sealed partial class FoldersThatNeedEachOther
{
    private static readonly IReadOnlyList<string> NotProduction = ["Tests", "Samples", "Benchmarks", "results"];

    private static readonly Lazy<ILookup<string, Need>> Needs = new(Read);

    [Test]
    public void Are_in_no_ring() => Assert.That(
        Needs.Value.SelectMany(needs => needs).Select(RingOf).Where(ring => ring.Count > 0).MinBy(ring => ring.Count) ?? [],
        Is.Empty,
        "These folders need each other in a ring. A type that many need goes down to what they share; what knows several goes up.");

    /// <summary>What they share is in a folder below them, and what knows several is in one above.</summary>
    [TestCase("Runner/Rounds", "Runner/Faults", "Runner/Loads", "Prove")]
    [TestCase("Runner/Results/Faults", "Runner/Results/Loads", "Runner/Results/Proofs")]
    public void Are_not_two_slices(params string[] slices) => Assert.That(
        from need in Needs.Value.SelectMany(needs => needs)
        where SliceOf(need.From, slices) is { } own && SliceOf(need.To, slices) is { } other && own != other
        select need.Because,
        Is.Empty);

    // Points know no cell: faults and proofs are both made at them.
    private static string? SliceOf(string folder, IEnumerable<string> slices) => folder == "Runner/Faults/Points"
        ? null
        : slices.FirstOrDefault(slice => $"{folder}/".StartsWith($"{slice}/", StringComparison.Ordinal));

    /// <summary>The shortest way from a folder over one that it needs back to itself.</summary>
    /// <returns>Empty: there is none.</returns>
    private static IReadOnlyList<string> RingOf(Need first)
    {
        var ways = new Queue<IReadOnlyList<Need>>([[first]]);
        var met = new HashSet<string>(StringComparer.Ordinal) { first.To };
        while (ways.TryDequeue(out var way))
        {
            if (way[^1].To == first.From)
                return [.. way.Select(need => need.Because)];
            foreach (var next in Needs.Value[way[^1].To].Where(next => met.Add(next.To)))
                ways.Enqueue([.. way, next]);
        }

        return [];
    }

    private static ILookup<string, Need> Read()
    {
        var files = RepositoryFiles.Of("*.cs").Concat(RepositoryFiles.Of("*.razor"))
            .Select(path => Path.GetRelativePath(RepositoryFiles.Root, path).Replace('\\', '/'))
            .Where(path => !NotProduction.Contains(path.Split('/')[0]))
            .Order(StringComparer.Ordinal)
            .Select(Source.Read)
            .ToList();
        var homes = files.SelectMany(file => file.Declares.Select(type => (Type: type, File: file))).ToLookup(home => home.Type, home => home.File);
        return (from file in files
                from type in file.Names
                let seen = homes[type].Where(home => file.Sees.Contains(home.Space)).Select(home => home.Folder).ToList()
                where seen.Count > 0 && !seen.Contains(file.Folder)
                select new Need(file.Folder, seen[0], $"{file.Path} names {type} of {seen[0]}"))
            .DistinctBy(need => (need.From, need.To))
            .ToLookup(need => need.From);
    }

    private sealed record Need(string From, string To, string Because);

    private sealed partial record Source(
        string Path, string Space, HashSet<string> Sees, HashSet<string> Declares, HashSet<string> Names)
    {
        public string Folder => Path[..Path.LastIndexOf('/')];

        public static Source Read(string path)
        {
            var text = TextsAndComments().Replace(File.ReadAllText(System.IO.Path.Combine(RepositoryFiles.Root, path)), "");
            var space = Namespace().Match(text).Groups["name"].Value;
            var parts = space.Split('.');
            var declared = Of(Declaration(), text);
            return new(
                path, space,
                [.. Of(Using(), text), .. Enumerable.Range(1, parts.Length).Select(length => string.Join('.', parts.Take(length)))],
                declared.Count == 0 && path.EndsWith(".razor", StringComparison.Ordinal) ? [System.IO.Path.GetFileNameWithoutExtension(path)] : declared,
                Of(Name(), text));
        }

        private static HashSet<string> Of(Regex pattern, string text) => [.. pattern.Matches(text).Select(match => match.Groups["name"].Value)];

        [GeneratedRegex(@"""(?:[^""\\\n]|\\.)*""|//.*", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
        private static partial Regex TextsAndComments();

        [GeneratedRegex(@"^\s*namespace\s+(?<name>[\w.]+)", RegexOptions.Multiline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
        private static partial Regex Namespace();

        [GeneratedRegex(
            @"^\s*(?:global\s+)?@?using\s+(?:static\s+)?(?:\w+\s*=\s*)?(?<name>[\w.]+)",
            RegexOptions.Multiline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
        private static partial Regex Using();

        [GeneratedRegex(
            @"\b(?:class|struct|interface|enum|record(?:\s+(?:class|struct))?|delegate\s+[\w<>\[\],. ?]+)\s+(?<name>[A-Z]\w+)",
            RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
        private static partial Regex Declaration();

        [GeneratedRegex(@"(?<![.\w])(?<name>[A-Z]\w+)\b", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 10_000)]
        private static partial Regex Name();
    }
}
