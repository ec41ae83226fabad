using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Bare;

/// <summary>What an endpoint tells of itself to a health check.</summary>
[Parallelizable]
public sealed class HealthOfAnEndpoint
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(2);
    private BareBench bench = null!;

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [Test]
    public async Task It_is_healthy_while_its_queue_answers_and_unhealthy_when_it_does_not()
    {
        using var host = bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask, services: services => services.AddHealthChecks().AddBareEndpoint("work", Patience));
        await host.StartAsync();
        await Eventually.HoldsAsync(async () => await CheckAsync(host) == HealthStatus.Healthy, "its queue answers");

        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "ALTER TABLE work RENAME TO elsewhere");
        await Eventually.HoldsAsync(async () => await CheckAsync(host) == HealthStatus.Unhealthy, "its queue does not answer");

        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "ALTER TABLE elsewhere RENAME TO work");
        await Eventually.HoldsAsync(async () => await CheckAsync(host) == HealthStatus.Healthy, "its queue answers again");
        await host.StopAsync();
    }

    [Test]
    public async Task Before_its_first_receive_it_is_unhealthy()
    {
        using var host = bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask, services: services => services.AddHealthChecks().AddBareEndpoint("work", Patience));

        Assert.That(await CheckAsync(host), Is.EqualTo(HealthStatus.Unhealthy));
    }

    private static async Task<HealthStatus> CheckAsync(IHost host) =>
        (await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync()).Status;
}
