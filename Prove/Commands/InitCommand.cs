using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Terminal;
using Spectre.Console;

namespace Kit.Prove.Commands;

/// <summary><c>init</c>: writes a first proof file. On a terminal it asks for what is not given.</summary>
internal sealed class InitCommand : KitCommand
{
    private readonly Argument<string> proofFile = new("file") { Description = $"The file to write, such as orders{ProofFile.Suffix}. It must not exist." };
    private readonly Option<string?> command = new("--command")
    {
        Description = "The command that starts your service, relative to the file's folder.",
        HelpName = "command",
    };
    private readonly Option<string[]> connections = new("--connection")
    {
        Description = "A variable of your service's environment with the connection string that it has today. Only its form and the database's name are kept.",
        HelpName = "VARIABLE=string",
    };
    private readonly Option<string?> queue = new("--queue")
    {
        Description = "Where a message gets in: a queue of RabbitMQ; or, without a broker, a table and the column of the id.",
        HelpName = "name or table.column",
    };
    private readonly Option<string[]> effects = new("--effect")
    {
        Description = "What a handled message leaves behind: a table with the column of the message's id, or a queue to which a message is sent.",
        HelpName = "table.column or queue:name",
    };
    private readonly Option<string?> schema = new("--schema")
    {
        Description = "A file with the statements that create the tables (none: your service creates them).",
        HelpName = "file.sql",
    };
    private readonly Option<string?> promise = new("--promise")
    {
        Description = $"What you promise after a crash (exactly-once). Values: {string.Join(", ", NamedPromises.All.Keys)}.",
        HelpName = "value",
    };

    public InitCommand()
        : base(
            "init",
            "Writes a first proof file, from a connection string and the names of a queue and an effect. On a terminal it asks for what is not given. " +
            "Your servers are not asked, and no password is stored.",
            ($"init orders{ProofFile.Suffix}", "asks four questions"),
            ($"init orders{ProofFile.Suffix} --command ./orders --connection DATABASE=postgresql://localhost/orders --queue job.id --effect invoice.job_id " +
             "--schema orders.sql",
             "a service that polls a table"),
            ($"init orders{ProofFile.Suffix} --command 'dotnet Orders.dll' --connection BROKER=amqp://localhost " +
             "--connection 'DATABASE=Host=localhost;Database=orders' --queue orders --effect placed_order.id",
             "a service that receives from RabbitMQ, and creates its tables itself"))
    {
        Arguments.Add(proofFile);
        foreach (var option in new[] { command, queue, schema, promise })
            option.NotEmpty();
        foreach (var option in new Option[] { command, connections, queue, effects, schema, promise })
            Options.Add(option);
        promise.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is { } value && !NamedPromises.All.ContainsKey(value))
                result.AddError($"{promise.Name}: unknown value '{value}'. Values: {string.Join(", ", NamedPromises.All.Keys)}.");
        });
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var path = parsed.GetValue(proofFile)!;
        if (!path.EndsWith(ProofFile.Suffix, StringComparison.Ordinal))
        {
            throw new KitException($"expected a file that ends with {ProofFile.Suffix}, found '{path}'.", $"Example: orders{ProofFile.Suffix}")
            { IsUsage = true };
        }

        if (Path.Exists(path))
            throw new KitException($"{path} exists.", "Name a new file, or change that one by hand.") { IsUsage = true };

        async Task<string> TextAsync(Option option, string? typed, string question) =>
            typed ?? await AskAsync(option, question, cancellationToken);
        async Task<IReadOnlyList<string>> TextsAsync(Option option, string[]? typed, string question) =>
            typed is { Length: > 0 } ? typed : [.. (await AskAsync(option, question, cancellationToken)).Split(' ', StringSplitOptions.RemoveEmptyEntries)];

        var draft = new FileDraft(
            Path.GetFileName(path)[..^ProofFile.Suffix.Length],
            [.. CommandLineParser.SplitCommandLine(
                await TextAsync(command, parsed.GetValue(command), "Which command starts your service?"))],
            await TextsAsync(
                connections, parsed.GetValue(connections), "Which variables have its connection strings? (DATABASE=postgresql://… BROKER=amqp://…)"),
            await TextAsync(queue, parsed.GetValue(queue), "Where does a message get in? (a RabbitMQ queue, or a table and its column: job.id)"),
            await TextsAsync(effects, parsed.GetValue(effects), "What does a handled message leave behind? (invoice.job_id, or queue:shipments)"),
            parsed.GetValue(schema) is { } sql ? await ReadAsync(sql, cancellationToken) : null,
            parsed.GetValue(promise) ?? "exactly-once");
        var text = draft.Write();
        // What it writes, the other verbs read.
        _ = ProofFileReader.Parse(path, text);
        await File.WriteAllTextAsync(path, text, cancellationToken);
        await Console.Out.WriteLineAsync($"Written: {path}. Look at 'send' and 'effects', then: {Verbs.TypedAfter} check {path}");
        return ExitCode.Success;
    }

    private static async Task<string> AskAsync(Option option, string question, CancellationToken cancellationToken) =>
        Console.IsInputRedirected || Console.IsOutputRedirected
            ? throw new KitException(
                $"{option.Name} is missing, and there is no terminal to ask.", $"Give it: {option.Name} <{option.HelpName}>.")
            { IsUsage = true }
            : await new TextPrompt<string>(Markup.Escape(question)).ShowAsync(AnsiConsole.Console, cancellationToken);

    private static async Task<string> ReadAsync(string path, CancellationToken cancellationToken)
    {
        try
        {
            return await File.ReadAllTextAsync(path, cancellationToken);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            throw new KitException($"--schema: {path} cannot be read: {failure.Message}", "Name a file with CREATE TABLE statements.", failure)
            { IsUsage = true };
        }
    }
}
