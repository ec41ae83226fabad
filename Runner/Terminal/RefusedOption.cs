using System.CommandLine;

namespace Kit.Runner.Terminal;

/// <summary>An option that a command does not have and another has. Typed, it is refused with the reason. No help shows it.</summary>
internal static class RefusedOption
{
    public static Option Create(string name, string reason)
    {
        // Its values belong to it, so that nothing more is said of them.
        var option = new Option<string[]>(name) { Hidden = true, Arity = ArgumentArity.ZeroOrMore, AllowMultipleArgumentsPerToken = true };
        option.Validators.Add(result => result.AddError($"{name}: {reason}"));
        return option;
    }
}
