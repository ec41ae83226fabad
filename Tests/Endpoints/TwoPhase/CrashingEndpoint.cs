using System.Text.Json;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.TwoPhase;

/// <summary>What a crashing endpoint is to run, on its standard input.</summary>
public sealed record CrashSpec(string Cell, string Queue, string Widgets);

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
        cell.Kind.AddEndpoint(
            host.Services,
            new EndpointSettings(spec.Cell, spec.Queue, spec.Widgets, cell.Mode, Concurrency: 2),
            async (message, context, cancellationToken) =>
            {
                await builder.BuildAsync(message, context, cancellationToken);
                if (Interlocked.Exchange(ref first, 0) == 1)
                    output.WriteLine(Handled);
            });
        using var endpoint = host.Build();
        await endpoint.StartAsync();
        // To the end of the input: a killed test leaves no endpoint behind.
        await input.ReadLineAsync();
        return 0;
    }
}
