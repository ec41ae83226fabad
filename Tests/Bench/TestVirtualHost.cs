using System.Text;
using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Tests;

/// <summary>A virtual host, new for each test, on the tests' broker.</summary>
internal sealed class TestVirtualHost : IAsyncDisposable
{
    private readonly ManagementApi management;
    private readonly List<string> users = [];
    private readonly string name = $"test_{Guid.NewGuid():N}";

    private TestVirtualHost(RabbitMqAddress broker)
    {
        management = new ManagementApi(broker);
        Address = broker.In(name).Text;
    }

    /// <summary>With the management plugin's.</summary>
    public string Address { get; }

    /// <param name="broker">The broker; the tests' own when not given.</param>
    public static async Task<TestVirtualHost> CreateAsync(RabbitMqAddress? broker = null)
    {
        var host = new TestVirtualHost(broker ?? (await RabbitMqServer.GetAsync()).Address);
        await host.management.CreateVirtualHostAsync(host.name, "a test's", CancellationToken.None);
        return host;
    }

    /// <summary>Gives the virtual host's queues a policy.</summary>
    /// <param name="pattern">Which queues, as a regular expression.</param>
    /// <param name="definition">Its keys and values, as JSON.</param>
    public Task SetPolicyAsync(string pattern, string definition) =>
        PutAsync($"policies/{name}/test", $$"""{"pattern": "{{pattern}}", "apply-to": "queues", "definition": {{definition}}}""");

    /// <summary>Creates another user, who may read and write everything in the virtual host.</summary>
    /// <param name="user">The user's name.</param>
    /// <param name="configure">What the user may create and delete: everything, when not given.</param>
    /// <returns>The broker's address for that user.</returns>
    public async Task<string> AddUserAsync(string user, string configure = ".*")
    {
        await PutAsync($"users/{user}", """{"password": "secret", "tags": ""}""");
        await PutAsync($"permissions/{name}/{user}", $$"""{"configure": "{{configure}}", "write": ".*", "read": ".*"}""");
        users.Add(user);
        return new UriBuilder(RabbitMqAddress.Parse(Address).Amqp) { UserName = user, Password = "secret" }.Uri.AbsoluteUri;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var user in users)
            await SendAsync(HttpMethod.Delete, $"users/{user}", body: null);

        await management.RemoveVirtualHostAsync(name, CancellationToken.None);
        management.Dispose();
    }

    private Task PutAsync(string path, string body) =>
        SendAsync(HttpMethod.Put, path, new StringContent(body, Encoding.UTF8, "application/json"));

    private async Task SendAsync(HttpMethod method, string path, HttpContent? body)
    {
        var broker = RabbitMqAddress.Parse(Address);
        using var client = new HttpClient { BaseAddress = broker.Management };
        var user = Encoding.UTF8.GetBytes($"{broker.UserName}:{broker.Password}");
        client.DefaultRequestHeaders.Authorization = new("Basic", Convert.ToBase64String(user));
        using var request = new HttpRequestMessage(method, new Uri($"api/{path}", UriKind.Relative)) { Content = body };
        using var answer = await client.SendAsync(request);
        Assert.That(answer.IsSuccessStatusCode, Is.True, await answer.Content.ReadAsStringAsync());
    }
}
