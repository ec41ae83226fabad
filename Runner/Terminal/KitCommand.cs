using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Terminal;

/// <summary>A command whose help ends with examples.</summary>
/// <param name="description">One or two sentences; the list of commands shows them too.</param>
/// <param name="examples">Command lines, each as it is typed after <c>run.sh</c>, and their purposes.</param>
internal abstract class KitCommand(string name, string description, params (string Typed, string Purpose)[] examples) : Command(name, description)
{
    private const int NarrowestTables = 140;

    // More than any table needs.
    private const int Unlimited = 100_000;

    public IReadOnlyList<(string Typed, string Purpose)> Examples => examples;

    /// <summary>Columns of the terminal; in files and pipes nothing wraps.</summary>
    protected static int Width => Console.IsOutputRedirected ? Unlimited : Math.Max(NarrowestTables, Console.WindowWidth);

    /// <summary>True if an option was typed.</summary>
    protected static bool IsGiven(SymbolResult result, Option option) => result.GetResult(option) is { Implicit: false };

    /// <summary>The folder for the results.</summary>
    protected static Option<string?> Out(string description)
    {
        var option = new Option<string?>("--out") { Description = description, HelpName = "folder" };
        option.NotEmpty();
        return option;
    }

    /// <summary>The folder that was typed, or a new one named by date and commit.</summary>
    protected static async Task<string> FolderAsync(string? typed, CancellationToken cancellationToken) =>
        typed ?? RunName.NewFolder("results", DateTimeOffset.UtcNow, await WorkTree.CommitAsync(cancellationToken));

    /// <summary>Lets the kit's own servers keep their files in memory.</summary>
    protected static Option<bool> NoDurability() => new(ServerPlace.Option)
    {
        Description =
            $"Let the kit's own servers keep their files in memory, if {ServerPlace.Variable} names a folder there or none is on a disk; " +
            "every table says so.",
    };
}
