using Kit.Runner.Servers;

namespace Kit.Tests;

/// <summary>One private broker for all tests, started when the first of them asks for it.</summary>
public static class RabbitMqServer
{
    private static readonly Lazy<Task<PrivateRabbitMq>> Broker = new(() => PrivateRabbitMq.StartAsync(CancellationToken.None));

    /// <summary>Why there is none; <see langword="null"/> where there is one.</summary>
    public static string? Missing { get; } = PrivateRabbitMq.Support.Because
        ?? (RabbitMqBinaries.Folders().Any() ? null : $"This machine has no RabbitMQ broker. {InstallableServer.RabbitMq.InstallHint()}");

    /// <summary>The broker; the test is ignored, with the reason, on a machine without RabbitMQ's programs.</summary>
    public static Task<PrivateRabbitMq> GetAsync()
    {
        IgnoreWithoutPrograms();
        return Broker.Value;
    }

    public static void IgnoreWithoutPrograms()
    {
        if (Missing is { } reason)
            Assert.Ignore(reason);
    }

    internal static async Task StopAsync()
    {
        if (Broker.IsValueCreated)
            await (await Broker.Value).DisposeAsync();
    }
}
