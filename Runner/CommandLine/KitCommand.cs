using System.CommandLine;

namespace Kit.Runner.CommandLine;

/// <summary>A command whose help ends with examples.</summary>
/// <param name="name">As it is typed.</param>
/// <param name="description">One or two sentences; the list of commands shows them too.</param>
/// <param name="examples">Command lines, each as it is typed after <c>run.sh</c>, and what they are for.</param>
internal abstract class KitCommand(string name, string description, params (string Typed, string Purpose)[] examples) : Command(name, description)
{
    public IReadOnlyList<(string Typed, string Purpose)> Examples => examples;
}
