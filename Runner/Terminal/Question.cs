using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Guarantees;
using Spectre.Console;

namespace Kit.Runner.Terminal;

/// <summary>A question with its possible answers: an option of a command, and a prompt on a terminal.</summary>
/// <param name="text">A sentence without the answers.</param>
internal sealed class Question<T>(string name, string text, params IReadOnlyList<Answer<T>> answers)
{
    /// <summary>The option. Its help gives the meaning of each answer; another value is refused with a list of those that exist.</summary>
    public Option<string?> Option { get; } = OptionOf(name, $"{text} {string.Join(' ', answers.Select(one => $"{one.Name}: {one.Meaning}."))}", answers);

    /// <summary>True if it was answered on the command line.</summary>
    public bool IsAnswered(SymbolResult parsed) => parsed.GetResult(Option) is { Implicit: false };

    /// <summary>The typed answer, or else the one that is chosen on the terminal.</summary>
    public async Task<Answer<T>> AnswerAsync(ParseResult parsed, CancellationToken cancellationToken) =>
        parsed.GetValue(Option) is { } typed ? answers.First(one => one.Name == typed) : await AskAsync(text, answers, cancellationToken);

    /// <summary>Shows a question on the terminal and waits until one of its answers is chosen with the arrow keys.</summary>
    public static async Task<Answer<T>> AskAsync(string text, IEnumerable<Answer<T>> answers, CancellationToken cancellationToken)
    {
        var prompt = new SelectionPrompt<Answer<T>>()
            .Title(Markup.Escape(text))
            .UseConverter(one => Markup.Escape($"{one.Name}: {one.Meaning}"))
            .AddChoices(answers);
        try
        {
            return await prompt.ShowAsync(AnsiConsole.Console, cancellationToken);
        }
        finally
        {
            // After Ctrl+C the prompt leaves it hidden.
            AnsiConsole.Cursor.Show();
        }
    }

    private static Option<string?> OptionOf(string name, string description, IReadOnlyList<Answer<T>> answers)
    {
        var option = new Option<string?>(name) { Description = description, HelpName = "value" };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is { } value && answers.All(one => one.Name != value))
                result.AddError($"{name}: unknown value '{value}'. Values: {string.Join(", ", answers.Select(one => one.Name))}.");
        });
        return option;
    }
}
