using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text;
using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Tests;

/// <summary>A virtual host, new for each test, on the tests' broker.</summary>
internal sealed class TestVirtualHost : IAsyncDisposable
{
    private readonly HttpClient management;
    private readonly string name = $"test_{Guid.NewGuid():N}";

    private TestVirtualHost(RabbitMqAddress broker)
    {
        var secret = Encoding.UTF8.GetBytes($"{broker.Credentials.UserName}:{broker.Credentials.Password}");
        management = new HttpClient { BaseAddress = broker.Management };
        management.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(secret));
        Address = $"{new UriBuilder(broker.Amqp) { Path = name }.Uri.AbsoluteUri}?management={broker.Management}";
    }

    /// <summary>With the management plugin's.</summary>
    public string Address { get; }

    public static async Task<TestVirtualHost> CreateAsync()
    {
        var server = await RabbitMqServer.GetAsync();
        var host = new TestVirtualHost(RabbitMqAddress.Parse($"{server.AmqpUri}?management={server.ManagementUri}"));
        // Its maker may do all in it.
        using var answer = await host.management.PutAsJsonAsync(host.Path, new { });
        answer.EnsureSuccessStatusCode();
        return host;
    }

    public async ValueTask DisposeAsync()
    {
        using var answer = await management.DeleteAsync(Path);
        management.Dispose();
    }

    private Uri Path => new($"api/vhosts/{name}", UriKind.Relative);
}
