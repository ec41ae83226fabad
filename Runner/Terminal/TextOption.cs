using System.CommandLine;

namespace Kit.Runner.Terminal;

/// <summary>Options that take a text.</summary>
internal static class TextOption
{
    /// <summary>Refuses an empty text, such as an unset variable in a script.</summary>
    public static void NotEmpty(this Option<string?> option) => option.Validators.Add(result =>
    {
        if (result is { Implicit: false, Tokens: [{ Value: var typed }, ..] } && string.IsNullOrWhiteSpace(typed))
            result.AddError($"{option.Name}: expected a {option.HelpName}, found nothing.");
    });
}
