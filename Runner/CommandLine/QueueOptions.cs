using System.CommandLine;
using Kit.Runner.Operations;
using Kit.Runner.Results;
using Npgsql;

namespace Kit.Runner.CommandLine;

/// <summary>The queue that a command about dead letters works on.</summary>
internal sealed class QueueOptions
{
    private readonly Option<string?> postgreSql =
        ServerOption.ExistingPostgreSql("Connection string of the queue's database, with Database=….");

    private readonly Option<string?> rabbitMq =
        ServerOption.ExistingRabbitMq("URI of the queue's broker and virtual host, amqp:// or amqps://.");

    private readonly Option<string?> queue = new("--queue") { Description = "The queue, named as its endpoint.", HelpName = "name" };

    public void AddTo(Command command)
    {
        queue.NotEmpty();
        foreach (var option in new[] { postgreSql, rabbitMq, queue })
            command.Options.Add(option);

        command.Validators.Add(result =>
        {
            if (result.GetResult(queue) is null)
                result.AddError("--queue: missing; name the queue as its endpoint is named.");
            if (result.GetResult(postgreSql) is null == result.GetResult(rabbitMq) is null)
                result.AddError("expected one server, --postgresql or --rabbitmq.");
        });
        postgreSql.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string?>() is { Length: > 0 } typed && LacksDatabase(typed))
                result.AddError("--postgresql: expected the queue's database in the connection string: Database=….");
        });
    }

    /// <exception cref="KitException">What was typed cannot be read.</exception>
    public IDeadLetters Open(ParseResult parsed) => parsed.GetValue(postgreSql) is { } database
        ? new DeadLettersOnPostgreSql(database, NameIn(parsed))
        : new DeadLettersOnRabbitMq(parsed.GetValue(rabbitMq)!, NameIn(parsed));

    public string NameIn(ParseResult parsed) => parsed.GetValue(queue)!;

    // Without it the driver takes the database that is named as the user, which is hardly ever meant.
    private static bool LacksDatabase(string connectionString)
    {
        try
        {
            return new NpgsqlConnectionStringBuilder(connectionString).Database is null;
        }
        catch (Exception unreadable) when (unreadable is ArgumentException or FormatException)
        {
            // Whoever opens it says that.
            return false;
        }
    }
}
