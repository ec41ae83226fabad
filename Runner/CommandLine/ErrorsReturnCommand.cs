using System.CommandLine;
using Kit.Endpoints.Bare;
using Kit.Runner.Results;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>errors return</c>: returns dead letters to their queue.</summary>
internal sealed class ErrorsReturnCommand : KitCommand
{
    private readonly QueueOptions queue = new();
    private readonly Option<Guid[]> message = new("--message")
    {
        Description = "These messages, by their ids from 'errors list'. If one is missing, none is returned.",
        HelpName = "id",
        AllowMultipleArgumentsPerToken = true,
        Arity = ArgumentArity.OneOrMore,
    };

    private readonly Option<bool> all = new("--all") { Description = "All dead letters of the queue." };

    public ErrorsReturnCommand()
        : base(
            "return",
            "Returns dead letters to the end of their queue, in the order in which they failed, and resets their count of failed attempts. " +
            "Rows and sent messages of those attempts stay. PostgreSQL moves all of them in one transaction, or none. RabbitMQ confirms " +
            "each in the queue before it leaves the error queue: none is lost, and a crash in between doubles at most one.",
            ("errors return --postgresql \"Host=db1;Username=app;Password=…;Database=orders\" --queue orders --all", "all of them"),
            ("errors return --rabbitmq amqp://app:…@queues1/shop --queue orders --message 0199f0c2-…", "one of them, on RabbitMQ"))
    {
        queue.AddTo(this);
        message.CustomParser = result =>
        {
            var ids = new List<Guid>();
            foreach (var token in result.Tokens)
            {
                if (Guid.TryParse(token.Value, out var id) && id != Guid.Empty)
                    ids.Add(id);
                else
                    result.AddError($"--message: expected a message id as 'errors list' shows it, found '{token.Value}'.");
            }

            return [.. ids.Distinct()];
        };
        Options.Add(message);
        Options.Add(all);
        Validators.Add(result =>
        {
            if (result.GetResult(message) is null == result.GetResult(all) is null)
                result.AddError("expected exactly one of --message and --all.");
        });
        SetAction(ReturnAsync);
    }

    private async Task<int> ReturnAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        await using var errors = queue.Open(parsed);
        var output = parsed.InvocationConfiguration.Output;
        try
        {
            var returned = await errors.ReturnAsync(parsed.GetValue(all) ? null : parsed.GetValue(message)!, cancellationToken);
            foreach (var id in returned)
                await output.WriteLineAsync($"Returned {(id == Guid.Empty ? "a message without an id" : id)}");
            await output.WriteLineAsync($"Returned to '{queue.NameIn(parsed)}': {Figures.Count(returned.Count)}.");
            return ExitCode.Success;
        }
        catch (DeadLetterNotFoundException missing)
        {
            throw new KitException(
                $"{missing.Message} None was returned.",
                "See which there are: errors list. They may have been returned in the meantime.",
                missing);
        }
    }
}
