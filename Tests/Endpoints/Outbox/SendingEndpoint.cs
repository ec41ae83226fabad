using System.Text.Json;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Outbox;

/// <summary>What a sending endpoint is to run, on its standard input.</summary>
public sealed record SendingSpec(string Cell, string Transport, string Widgets);

/// <summary>An endpoint in a process of its own, whose handler inserts a row and sends a message.</summary>
internal static class SendingEndpoint
{
    public const string Command = "sending-endpoint";
    public const string Sink = "built";

    public static async Task<int> RunAsync(TextReader input)
    {
        var spec = JsonSerializer.Deserialize<SendingSpec>((await input.ReadLineAsync())!)!;
        var cell = Cell.All.Single(cell => cell.Name == spec.Cell);
        var builder = new WidgetBuilder(cell.Access.CreateInsert());
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(
            host.Services,
            new EndpointSettings(spec.Cell, spec.Transport, spec.Widgets, cell.Mode, Concurrency: 1),
            async (message, context, cancellationToken) =>
            {
                await builder.BuildAsync(message, context, cancellationToken);
                // Another id each time: what is sent twice has one because the outbox keeps it, not because it follows from the message.
                await context.SendAsync(Sink, new WidgetBuilt(Guid.NewGuid()), cancellationToken);
            });
        using var endpoint = host.Build();
        // What its worker has dispatched and not forgotten when it is killed is to be sent by the next process alone.
        OutboxBench.SetSchedule(endpoint, spec.Cell, OutboxBench.Never);
        await endpoint.StartAsync();
        // To the end of the input: a killed test leaves no endpoint behind.
        await input.ReadLineAsync();
        return 0;
    }
}
