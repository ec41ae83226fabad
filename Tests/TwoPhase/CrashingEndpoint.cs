using System.Text.Json;
using System.Transactions;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.TwoPhase;

/// <summary>What a crashing endpoint is to run, on its standard input.</summary>
public sealed record CrashSpec(string Cell, string Queue, string Widgets, CrashPoint Point);

/// <summary>
/// An endpoint in a process of its own that parks its first message at a point between the phases, says so, and waits to be killed.
/// The point is reached from outside the product: a volatile resource, enlisted beside the branch, does not answer.
/// </summary>
internal static class CrashingEndpoint
{
    public const string Command = "crashing-endpoint";
    public const string Parked = "parked";
    public const string Handled = "handled";

    public static async Task<int> RunAsync(TextReader input, TextWriter output)
    {
        var spec = JsonSerializer.Deserialize<CrashSpec>((await input.ReadLineAsync())!)!;
        var cell = Cell.All.Single(cell => cell.Name == spec.Cell);
        var builder = new WidgetBuilder(cell.Access.CreateInsert());
        var first = 1;
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(host.Services, new EndpointSettings(spec.Cell, spec.Queue, spec.Widgets, cell.Mode, Concurrency: 2), async (message, context, cancellationToken) =>
        {
            await builder.BuildAsync(message, context, cancellationToken);
            if (spec.Point is not CrashPoint.Anywhere && Interlocked.Exchange(ref first, 0) == 1)
                Transaction.Current!.EnlistVolatile(new Parking(spec.Point, output), EnlistmentOptions.None);

            output.WriteLine(Handled);
        });
        using var endpoint = host.Build();
        await endpoint.StartAsync();
        // To the end of the input: a killed test leaves no endpoint behind.
        await input.ReadLineAsync();
        return 0;
    }

    private sealed class Parking(CrashPoint point, TextWriter output) : IEnlistmentNotification
    {
        public void Prepare(PreparingEnlistment preparingEnlistment)
        {
            // Without an answer the decision never comes. The branch was asked before, and prepares meanwhile.
            if (point is CrashPoint.BeforeDecision)
                output.WriteLine(Parked);
            else
                preparingEnlistment.Prepared();
        }

        public void Commit(Enlistment enlistment)
        {
            // The notifications of the commit come before the worker goes on to the second phase.
            output.WriteLine(Parked);
            Thread.Sleep(Timeout.Infinite);
        }

        public void Rollback(Enlistment enlistment) => enlistment.Done();

        public void InDoubt(Enlistment enlistment) => enlistment.Done();
    }
}
