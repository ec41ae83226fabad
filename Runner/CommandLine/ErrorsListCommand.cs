using System.CommandLine;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Runner.Results;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>errors list</c>: the dead letters of a queue.</summary>
internal sealed class ErrorsListCommand : KitCommand
{
    private const int LongestReason = 100;

    private readonly QueueOptions queue = new();
    private readonly Option<bool> json = new("--json") { Description = "As JSON, with the reasons in full." };

    public ErrorsListCommand()
        : base(
            "list",
            "Lists the dead letters of a bare endpoint's queue, in the order in which they failed: message id, attempts, when it failed, " +
            "type, reason. On RabbitMQ the command receives them and puts them back, which marks them as redelivered.",
            ("errors list --postgresql \"Host=db1;Username=app;Password=…;Database=orders\" --queue orders", "of a queue in PostgreSQL"),
            ("errors list --rabbitmq amqp://app:…@queues1/shop --queue orders --json", "of a queue in RabbitMQ, for other tools"))
    {
        queue.AddTo(this);
        Options.Add(json);
        SetAction(ListAsync);
    }

    private async Task<int> ListAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        await using var errors = queue.Open(parsed);
        var letters = await errors.ReadAsync(cancellationToken);
        var output = parsed.InvocationConfiguration.Output;
        if (parsed.GetValue(json))
            await output.WriteLineAsync(JsonSerializer.Serialize(letters, ResultJson.Options));
        else
            Write(queue.NameIn(parsed), letters, output);

        return ExitCode.Success;
    }

    internal static void Write(string queue, IReadOnlyList<DeadLetter> letters, TextWriter output)
    {
        PlainColumns.Write(
            ["message id", "attempts", "failed at", "type", "reason"],
            [
                .. letters.Select(letter => (IReadOnlyList<string>)
                [
                    letter.MessageId == Guid.Empty ? "(none)" : letter.MessageId.ToString(),
                    letter.FailedAttempts is { } attempts ? Figures.Plain(attempts) : Figures.None,
                    letter.FailedAt is { } moment ? Figures.Moment(moment) : Figures.None,
                    letter.Type.Length > 0 ? letter.Type : Figures.None,
                    Shortened(letter.Reason),
                ]),
            ],
            output);
        output.WriteLine($"Dead letters of '{queue}': {Figures.Count(letters.Count)}.");
        if (letters.Any(letter => Shortened(letter.Reason) != letter.Reason))
            output.WriteLine("Reasons are shortened; --json shows them in full.");
    }

    // Its first line, which names the exception and its message.
    private static string Shortened(string reason)
    {
        var line = reason.ReplaceLineEndings("\n").Split('\n')[0];
        return line.Length <= LongestReason ? (line == reason ? line : line + " …") : line[..LongestReason] + "…";
    }
}
