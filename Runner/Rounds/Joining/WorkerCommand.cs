using System.CommandLine;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.Rounds.Joining;

/// <summary><c>worker</c>: runs handlers of a run that goes on on another machine.</summary>
internal sealed class WorkerCommand : KitCommand
{
    private static readonly TimeSpan DefaultWait = TimeSpan.FromMinutes(10);

    private readonly Option<string?> join = new("--join")
    {
        Description = PostgreSqlTransport.RouteToJoin.Description,
        HelpName = "connection string",
        Required = true,
    };
    private readonly IReadOnlyList<(Transport Transport, Option<string?> Option)> servers =
    [
        .. from transport in Transport.All
           where transport is { WorkerRoute: not null, HoldsWidgets: false }
           select (transport, ServerOption.Existing(transport.Server!, transport.WorkerRoute!.Description)),
    ];
    private readonly Option<TimeSpan?> wait = Waiting($"How long to look for a run that needs a worker ({DefaultWait.TotalMinutes}min).");

    public WorkerCommand()
        : base(
            "worker",
            "Takes part in a run of another machine ('run --workers'): finds it on the shared PostgreSQL server, runs its handler processes here, and ends " +
            "with it. Exit code 1 if there is no run, or it has another build.",
            ("worker --join \"Host=db1;Username=kit;Password=…;Database=postgres\"", "joins the run on that server, or waits for one"),
            ("worker --join \"Host=db1;Username=kit;Password=…;Database=postgres\" --rabbitmq amqp://kit:…@queues1", "a run with cells on RabbitMQ"))
    {
        join.NotEmpty();
        foreach (var option in servers.Select(server => server.Option).Prepend(join).Append<Option>(wait))
            Options.Add(option);
        SetAction(RunAsync);
    }

    /// <summary>The option for the time that the two sides wait for each other.</summary>
    public static Option<TimeSpan?> Waiting(string description) => NumberOption.Time("--wait", description, TimeSpan.FromSeconds(1), TimeSpan.FromHours(24));

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var console = Console.Out;
        var arguments = TransportArguments.Of(
        [
            (PostgreSqlTransport.ServerSetting, parsed.GetValue(join)),
            .. servers.Select(server => (server.Transport.Server!, parsed.GetValue(server.Option))),
        ]);
        await using var worker = await new RunSearch(arguments, parsed.GetValue(wait) ?? DefaultWait, console.WriteLine).JoinAsync(cancellationToken);
        await console.WriteLineAsync($"Joined as {worker.Seat}");
        try
        {
            await console.WriteLineAsync($"The run has ended: {await worker.RunAsync(cancellationToken)}. {worker.Account}");
            return ExitCode.Success;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync($"Stopped. {worker.Account} If a round was going on, it is INVALID.");
            return ExitCode.Interrupted;
        }
    }
}
