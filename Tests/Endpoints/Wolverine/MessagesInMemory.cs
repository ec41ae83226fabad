using Kit.Endpoints.Cells;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Wolverine.Configuration;
using Wolverine.Runtime;

namespace Kit.Tests.Wolverine;

/// <summary>Where Wolverine polls often, it receives more than it handles, and the limits of its memory decide when it goes on.</summary>
[Parallelizable]
public sealed class MessagesInMemory
{
    // Wolverine looks at its limits every 2 s.
    private const int Seconds = 2;

    // More than any published run of it shows.
    private const int Fastest = 2_000;

    [Test]
    public async Task Are_enough_until_it_looks_at_its_limits_again()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var kind = new WolverineOnPostgreSql();
        await using var queue = kind.OpenQueue("work", databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        kind.AddEndpoint(
            application.Services,
            new EndpointSettings("work", databases.Widgets, databases.Widgets, TransactionMode.Outbox, Concurrency: 1) { PollsOften = true },
            (_, _, _) => Task.CompletedTask);
        using var host = application.Build();
        await host.StartAsync();

        var listener = host.Services.GetRequiredService<IWolverineRuntime>().Options.Transports.SelectMany(transport => transport.Endpoints())
            .Single(endpoint => endpoint is { IsListener: true, Mode: EndpointMode.Durable, Uri.Scheme: "postgresql" });
        await host.StopAsync();

        Assert.That(listener.BufferingLimits.Restart, Is.GreaterThanOrEqualTo(Seconds * Fastest));
        Assert.That(listener.BufferingLimits.Maximum, Is.GreaterThan(listener.BufferingLimits.Restart));
    }
}
