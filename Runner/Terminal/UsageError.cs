using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Servers;

namespace Kit.Runner.Terminal;

/// <summary>Explains the error of a command line, with the correct form.</summary>
internal static class UsageError
{
    public static void Write(ParseResult parsed, TextWriter output)
    {
        var command = parsed.CommandResult.Command;
        // An option that takes several names takes a misspelt option for one of them. Whatever else is wrong then follows from it.
        var taken = parsed.Tokens.Where(token => token is { Type: TokenType.Argument, Value: ['-', '-', _, ..] }).Select(token => token.Value)
            .Except(parsed.UnmatchedTokens).ToList();
        IReadOnlyList<string> unknown = taken.Count > 0 ? taken : parsed.UnmatchedTokens;
        foreach (var token in unknown)
            output.WriteLine($"error: {Unknown(token, command)}");

        // The parser reports an unknown name too, and then also a missing command.
        if (unknown.Count == 0 && command.Action is null)
            output.WriteLine($"error: no command. Commands: {Commands(command)}.");
        else if (command.Action is not null && taken.Count == 0)
            foreach (var error in parsed.Errors.Where(error => !unknown.Any(token => error.Message.Contains($"'{token}'", StringComparison.Ordinal))))
                output.WriteLine($"error: {error.Message}");

        output.WriteLine(command is RootCommand ? "See: --help" : $"See: {PathOf(command)} --help");
    }

    // As it is typed: "errors list".
    private static string PathOf(Command command) =>
        command.Parents.OfType<Command>().FirstOrDefault(parent => parent is not RootCommand) is { } parent
            ? $"{PathOf(parent)} {command.Name}"
            : command.Name;

    private static string Unknown(string token, Command command) => token switch
    {
        ['-', ..] => $"unknown option '{Shown(token)}'. Options: {Options(command)}.",
        _ when command.Subcommands.Count > 0 => $"unknown command '{Shown(token)}'. Commands: {Commands(command)}.",
        _ => $"unknown argument '{Shown(token)}'. Options: {Options(command)}.",
    };

    // A connection string typed without its option must not show its password on the terminal or in logs.
    private static string Shown(string token) =>
        Passwords.Mask(token.Contains('=', StringComparison.Ordinal) ? ConnectionStrings.Mask(token) : token);

    private static string Commands(Command command) => string.Join(", ", command.Subcommands.Select(each => each.Name));

    private static string Options(Command command) =>
        string.Join(", ", new[] { command }.Concat(command.Parents.OfType<Command>()).SelectMany(each => each.Options)
            .Where(option => !option.Hidden && (command.Options.Contains(option) || option.Recursive)).Select(option => option.Name));
}
