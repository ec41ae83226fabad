using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Servers;

namespace Kit.Runner.CommandLine;

/// <summary>A command whose help ends with examples.</summary>
/// <param name="description">One or two sentences; the list of commands shows them too.</param>
/// <param name="examples">Command lines, each as it is typed after <c>run.sh</c>, and their purposes.</param>
internal abstract class KitCommand(string name, string description, params (string Typed, string Purpose)[] examples) : Command(name, description)
{
    public IReadOnlyList<(string Typed, string Purpose)> Examples => examples;

    /// <summary>True if an option was typed.</summary>
    protected static bool IsGiven(SymbolResult result, Option option) => result.GetResult(option) is { Implicit: false };

    /// <summary>Lets the kit's own servers keep their files in memory.</summary>
    protected static Option<bool> NoDurability() => new(ServerPlace.Option)
    {
        Description =
            $"Let the kit's own servers keep their files in memory, if {ServerPlace.Variable} names a folder there or none is on a disk; " +
            "every table says so.",
    };
}
