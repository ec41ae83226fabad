using System.CommandLine;
using System.CommandLine.Parsing;

namespace Kit.Runner.Terminal;

/// <summary>Options that take names, separated by commas or spaces. An unknown name is refused with a list of those that exist.</summary>
internal static class NamesOption
{
    /// <param name="description">For the help, which adds the names.</param>
    /// <param name="whyNot">The reason why a name that exists elsewhere is refused here; <see langword="null"/> for a name that is unknown.</param>
    /// <param name="read">Turns the typed text into one of the names; <see langword="null"/>: unchanged.</param>
    public static Option<string[]> Of(
        string name, string description, IReadOnlyList<string> names, Func<string, string?>? whyNot = null, Func<string, string>? read = null)
    {
        var existing = Listed(names);
        var option = new Option<string[]>(name)
        {
            Description = $"{description} {existing}",
            HelpName = "name,…",
            CustomParser = result => [.. Typed(result).Select(read ?? (typed => typed))],
            AllowMultipleArgumentsPerToken = true,
        };
        option.Validators.Add(result => Check(result, names, existing, whyNot ?? (_ => null)));
        return option;
    }

    /// <summary>An option that takes one name.</summary>
    /// <param name="description">For the help, which adds the names.</param>
    public static Option<string?> One(string name, string description, IReadOnlyList<string> names)
    {
        var option = new Option<string?>(name) { Description = $"{description} {Listed(names)}", HelpName = "name" };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is { } typed && !names.Contains(typed))
                result.AddError($"{name}: {Unknown(typed)}. {Listed(names)}");
        });
        return option;
    }

    /// <summary>The names that were typed, as they were.</summary>
    public static IEnumerable<string> Typed(ArgumentResult result) =>
        result.Tokens.SelectMany(token => token.Value.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));

    private static string Listed(IReadOnlyList<string> names) => $"Names: {string.Join(", ", names)}.";

    private static string Unknown(string typed) => $"unknown name '{typed}'";

    private static void Check(OptionResult result, IReadOnlyList<string> names, string existing, Func<string, string?> whyNot)
    {
        var typed = result.GetValueOrDefault<string[]>() ?? [];
        if (result is { Implicit: false } && typed.Length == 0)
            result.AddError($"{result.Option.Name}: no name. {existing}");
        foreach (var unknown in typed.Where(one => !names.Contains(one)))
            result.AddError($"{result.Option.Name}: {whyNot(unknown) ?? Unknown(unknown)}. {existing}");
    }
}
