using System.Text;
using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Tests;

/// <summary>A virtual host, new for each test, on the tests' broker.</summary>
internal sealed class TestVirtualHost : IAsyncDisposable
{
    private readonly ManagementApi management;
    private readonly string name = $"test_{Guid.NewGuid():N}";

    private TestVirtualHost(RabbitMqAddress broker)
    {
        management = new ManagementApi(broker);
        Address = broker.In(name).Text;
    }

    /// <summary>With the management plugin's.</summary>
    public string Address { get; }

    public static async Task<TestVirtualHost> CreateAsync()
    {
        var host = new TestVirtualHost((await RabbitMqServer.GetAsync()).Address);
        await host.management.CreateVirtualHostAsync(host.name, "a test's", CancellationToken.None);
        return host;
    }

    /// <summary>Gives the virtual host's queues a policy.</summary>
    /// <param name="pattern">Which queues, as a regular expression.</param>
    /// <param name="definition">Its keys and values, as JSON.</param>
    public async Task SetPolicyAsync(string pattern, string definition)
    {
        var broker = RabbitMqAddress.Parse(Address);
        using var client = new HttpClient { BaseAddress = broker.Management };
        var user = Encoding.UTF8.GetBytes($"{broker.UserName}:{broker.Password}");
        client.DefaultRequestHeaders.Authorization = new("Basic", Convert.ToBase64String(user));
        var body = $$"""{"pattern": "{{pattern}}", "apply-to": "queues", "definition": {{definition}}}""";
        using var answer = await client.PutAsync(
            new Uri($"api/policies/{name}/test", UriKind.Relative), new StringContent(body, Encoding.UTF8, "application/json"));
        Assert.That(answer.IsSuccessStatusCode, Is.True, await answer.Content.ReadAsStringAsync());
    }

    public async ValueTask DisposeAsync()
    {
        await management.RemoveVirtualHostAsync(name, CancellationToken.None);
        management.Dispose();
    }
}
