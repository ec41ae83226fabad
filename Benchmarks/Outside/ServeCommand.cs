using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage.Databases;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Benchmarks.Outside;

/// <summary><c>serve</c>: a cell's endpoint and handler as a service, which knows nothing of a measurement.</summary>
internal sealed class ServeCommand : Command
{
    public const string Verb = "serve";

    /// <summary>The variable with the connection string of the queue's database.</summary>
    public const string Queue = "QUEUE";

    /// <summary>The variable with the connection string of the widgets' database.</summary>
    public const string Widgets = "WIDGETS";

    private readonly Argument<string> name = new("cell") { Description = "The name of a cell." };
    private readonly Argument<int> concurrency = new("concurrency") { Description = "Messages handled at the same time." };

    public ServeCommand()
        : base(Verb, $"A cell's handler as a service, until it is killed. {Queue} and {Widgets} are its connection strings. 'outside' starts it.")
    {
        Arguments.Add(name);
        Arguments.Add(concurrency);
        SetAction((parsed, cancellationToken) => ServeAsync(parsed.GetRequiredValue(name), parsed.GetRequiredValue(concurrency), cancellationToken));
    }

    private static async Task<int> ServeAsync(string named, int concurrency, CancellationToken cancellationToken)
    {
        var cell = Cell.Find(named) ?? throw new KitException($"There is no cell {named}.", "./run.sh list shows them.") { IsUsage = true };
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Logging.AddConsole().SetMinimumLevel(LogLevel.Warning);
        cell.Kind.AddEndpoint(
            builder.Services, cell.EndpointOn(OutsideCommand.QueueName, Given(Queue), Given(Widgets), concurrency),
            cell.CreateHandler(OutsideCommand.QueueName));
        await builder.Build().RunAsync(cancellationToken);
        return ExitCode.Success;
    }

    /// <summary>With the settings that a run's endpoints have: what differs is how the cell is measured.</summary>
    private static string Given(string variable) => Environment.GetEnvironmentVariable(variable) is { } connection
        ? EndpointConnections.For(connection)
        : throw new KitException($"The variable {variable} is missing.", "Give it a connection string.") { IsUsage = true };
}
