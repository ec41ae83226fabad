using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Tests.Participants;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.TwoPhase;

/// <summary>What a crashing endpoint is to run, on its standard input.</summary>
/// <param name="Cell">The cell.</param>
/// <param name="Queue">The queue's database.</param>
/// <param name="Widgets">The handlers' database.</param>
/// <param name="Participant">A second one, with a table of the same name and a queue; <see langword="null"/> if the handlers have none.</param>
public sealed record CrashSpec(string Cell, string Queue, string Widgets, string? Participant = null);

/// <summary>An endpoint in a process of its own that says when it has handled its first message, and waits to be killed.</summary>
internal static class CrashingEndpoint
{
    public const string Command = "crashing-endpoint";
    public const string Handled = "handled";

    public static async Task<int> RunAsync(TextReader input, TextWriter output)
    {
        var spec = JsonSerializer.Deserialize<CrashSpec>((await input.ReadLineAsync())!)!;
        var cell = Cell.All.Single(cell => cell.Name == spec.Cell);
        var builder = new WidgetBuilder(cell.Access.CreateInsert());
        var first = 1;
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        if (spec.Participant is { } participant)
            AddWithParticipant(host.Services, spec, participant, SayOnce);
        else
        {
            cell.Kind.AddEndpoint(
                host.Services,
                new EndpointSettings(spec.Cell, spec.Queue, spec.Widgets, cell.Mode, Concurrency: 2),
                async (message, context, cancellationToken) =>
                {
                    await builder.BuildAsync(message, context, cancellationToken);
                    SayOnce();
                });
        }

        using var endpoint = host.Build();
        await endpoint.StartAsync();
        // To the end of the input: a killed test leaves no endpoint behind.
        await input.ReadLineAsync();
        return 0;

        void SayOnce()
        {
            if (Interlocked.Exchange(ref first, 0) == 1)
                output.WriteLine(Handled);
        }
    }

    private static void AddWithParticipant(IServiceCollection services, CrashSpec spec, string participant, Action handled) => services
        .AddSingleton(handled)
        .AddKeyedPostgreSqlMessageSender(OnThreeServers.Participant, participant)
        .AddBareEndpoint(spec.Cell, endpoint => endpoint
            .UsePostgreSql(spec.Queue, spec.Widgets)
            .AddParticipant(OnThreeServers.Participant, participant)
            .UseTransactionMode(TransactionMode.FullDtc)
            .LimitConcurrency(2)
            .Handle<BuildWidget, InBoth>());

    private sealed class InBoth(Action handled, [FromKeyedServices(OnThreeServers.Participant)] IMessageSender sender) : IMessageHandler<BuildWidget>
    {
        public async Task HandleAsync(BuildWidget message, MessageContext context, CancellationToken cancellationToken)
        {
            await OnThreeServers.InsertInBothAsync(context, cancellationToken);
            await OnThreeServers.SendInBillingAsync(sender, context, cancellationToken);
            handled();
        }
    }
}
