using System.CommandLine;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary>A command with a proof file, whose passwords are in nothing that it shows.</summary>
internal abstract class ProofCommand : KitCommand
{
    private readonly Argument<string> proofFile = new("file") { Description = $"The proof file, such as orders{ProofFile.Suffix}." };
    private readonly Option<string?> start = new("--start")
    {
        Description = "Start this .NET program instead of the command in the file. A 'send' or 'later' that begins with the same command starts it, too.",
        HelpName = "program.dll",
    };

    protected ProofCommand(string name, string description, params (string Typed, string Purpose)[] examples)
        : base(name, description, examples)
    {
        Arguments.Add(proofFile);
        start.NotEmpty();
        Options.Add(start);
        SetAction(RunAsync);
    }

    /// <summary>What happens even if the proof file cannot be read.</summary>
    protected virtual void Begin(ParseResult parsed)
    {
    }

    /// <summary>Passwords in arguments.</summary>
    protected virtual IEnumerable<string> PasswordsIn(ParseResult parsed) => [];

    /// <summary>The file and the program, for a command that is printed to be typed.</summary>
    protected string Again(ProofFile file) => TypedCommand.Of([file.Path, .. file.Given is { } program ? new[] { start.Name, program } : []]);

    /// <param name="console">Masks passwords.</param>
    protected abstract Task<int> RunAsync(ProofFile file, TextWriter console, ParseResult parsed, CancellationToken cancellationToken);

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        Begin(parsed);
        var passwords = PasswordsIn(parsed);
        var path = parsed.GetValue(proofFile)!;
        var text = ProofFileReader.TextOf(path);
        var secrets = Secrets.In(text).With(passwords);
        return await secrets.MaskingFailuresAsync(async () =>
        {
            var file = ProofFileReader.Parse(path, text, parsed.GetValue(start)) with { Secrets = secrets };
            await using var console = secrets.Over(Console.Out);
            return await RunAsync(file, console, parsed, cancellationToken);
        });
    }
}
