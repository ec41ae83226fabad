using System.Diagnostics;
using System.Text.Json;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.RabbitMq;

/// <summary>What a poisoned endpoint is to run, on its standard input.</summary>
public sealed record PoisonSpec(string Cell, string Transport, string Widgets, Guid Poison);

/// <summary>An endpoint in a process of its own, which ends as by SIGKILL whenever it handles one certain message.</summary>
internal static class PoisonedEndpoint
{
    public const string Command = "poisoned-endpoint";

    public static async Task<int> RunAsync(TextReader input)
    {
        var spec = JsonSerializer.Deserialize<PoisonSpec>((await input.ReadLineAsync())!)!;
        var cell = Cell.All.Single(cell => cell.Name == spec.Cell);
        var builder = new WidgetBuilder(cell.Access.CreateInsert());
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(
            host.Services,
            new EndpointSettings(spec.Cell, spec.Transport, spec.Widgets, cell.Mode, Concurrency: 2),
            async (message, context, cancellationToken) =>
            {
                await builder.BuildAsync(message, context, cancellationToken);
                if (message.MessageId == spec.Poison)
                    Process.GetCurrentProcess().Kill();
            });
        using var endpoint = host.Build();
        await endpoint.StartAsync();
        // To the end of the input: a killed test leaves no endpoint behind.
        await input.ReadLineAsync();
        await endpoint.StopAsync();
        return 0;
    }
}
