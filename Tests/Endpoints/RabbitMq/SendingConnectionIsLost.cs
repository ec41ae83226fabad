using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Kit.Modes;

namespace Kit.Tests.RabbitMq;

/// <summary>The connection on which an endpoint sends is closed while a retry waits for its time.</summary>
[Parallelizable]
public sealed class SendingConnectionIsLost
{
    private static readonly TimeSpan Delay = TimeSpan.FromSeconds(55);

    [Test]
    public async Task The_endpoint_connects_again_and_does_not_wait_for_the_retry()
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        var failed = new TaskCompletionSource();
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        using var endpoint = bench.Build(
            TransactionMode.ScopeOff,
            (_, _) => failed.TrySetResult() ? throw new InvalidOperationException("The test wants this attempt to fail.") : Task.CompletedTask,
            concurrency: 2,
            configure: configured => configured.DelayRetries(Delay));
        await endpoint.StartAsync();
        await failed.Task.WaitAsync(Eventually.Limit);

        await CloseAsync(bench, "work sending");

        Assert.That(
            await Eventually.IsSoAsync(() => Task.FromResult(bench.Warnings.Count("Next try") > 0), within: Delay / 2), Is.True, $"{bench.Warnings}");
        await endpoint.StopAsync();
    }

    /// <summary>Closes a connection of the test's virtual host when the management plugin knows it.</summary>
    private static async Task CloseAsync(RabbitMqBench bench, string name)
    {
        using var client = new HttpClient { BaseAddress = bench.Address.Management };
        var user = Encoding.UTF8.GetBytes($"{bench.Address.UserName}:{bench.Address.Password}");
        client.DefaultRequestHeaders.Authorization = new("Basic", Convert.ToBase64String(user));
        string? found = null;
        await Eventually.HoldsAsync(
            async () =>
            {
                var all = await client.GetFromJsonAsync<JsonElement>(new Uri($"api/vhosts/{bench.Address.VirtualHost}/connections", UriKind.Relative));
                found = all.EnumerateArray()
                    .Where(one => one.TryGetProperty("user_provided_name", out var given) && given.GetString() == name)
                    .Select(one => one.GetProperty("name").GetString())
                    .FirstOrDefault();
                return found is not null;
            },
            "the plugin knows the connection");
        using var answer = await client.DeleteAsync(new Uri($"api/connections/{Uri.EscapeDataString(found!)}", UriKind.Relative));
        answer.EnsureSuccessStatusCode();
    }
}
