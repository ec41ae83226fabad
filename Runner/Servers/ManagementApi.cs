using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;

namespace Kit.Runner.Servers;

/// <summary>The HTTP interface of RabbitMQ's management plugin, as far as the kit needs it: https://www.rabbitmq.com/docs/http-api-reference.</summary>
public sealed class ManagementApi : IDisposable
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(10);

    private readonly HttpClient client;
    private readonly BrokerAddress broker;

    public ManagementApi(BrokerAddress broker)
    {
        this.broker = broker;
        client = new HttpClient { BaseAddress = broker.Management, Timeout = Timeout };
        client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{broker.UserName}:{broker.Password}")));
    }

    public void Dispose() => client.Dispose();

    /// <summary>Why the plugin cannot be used by our user, in words; <see langword="null"/> where it can.</summary>
    public async Task<string?> WhyAbsentAsync(CancellationToken cancellationToken)
    {
        try
        {
            using var response = await client.GetAsync(Path("whoami"), cancellationToken);
            return response.StatusCode switch
            {
                HttpStatusCode.OK when response.Content.Headers.ContentType?.MediaType is "application/json" => null,
                HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden => $"it refuses the user {broker.UserName}, who has none of its tags",
                var status => $"what answers there is not the plugin ({(int)status})",
            };
        }
        catch (HttpRequestException failure)
        {
            return failure.Message;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return $"no answer within {Timeout.TotalSeconds:F0} s";
        }
    }

    /// <summary>Whether our user may make virtual hosts: only those with the tag <c>administrator</c> may.</summary>
    /// <exception cref="HttpRequestException">The plugin does not answer, or refuses.</exception>
    public async Task<bool> IsAdministratorAsync(CancellationToken cancellationToken)
    {
        var user = await client.GetFromJsonAsync<JsonElement>(Path("whoami"), cancellationToken);
        // A list, or, before version 3.9, its words with commas between.
        var tags = user.GetProperty("tags");
        return (tags.ValueKind is JsonValueKind.Array ? tags.EnumerateArray().Select(tag => tag.GetString()) : tags.GetString()!.Split(','))
            .Contains("administrator", StringComparer.Ordinal);
    }

    /// <summary>Makes a virtual host and lets our user do all in it.</summary>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task CreateVirtualHostAsync(string name, string description, CancellationToken cancellationToken)
    {
        await PutAsync(Path("vhosts", name), new { description }, cancellationToken);
        await PutAsync(Path("permissions", name, broker.UserName), new { configure = ".*", write = ".*", read = ".*" }, cancellationToken);
    }

    /// <summary>Removes a virtual host with all that is in it; one that is gone already is no error.</summary>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task RemoveVirtualHostAsync(string name, CancellationToken cancellationToken)
    {
        using var response = await client.DeleteAsync(Path("vhosts", name), cancellationToken);
        if (response.StatusCode != HttpStatusCode.NotFound)
            response.EnsureSuccessStatusCode();
    }

    /// <summary>Every virtual host that our user may see, with its description.</summary>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task<IReadOnlyList<(string Name, string Description)>> ReadVirtualHostsAsync(CancellationToken cancellationToken)
    {
        var hosts = await client.GetFromJsonAsync<JsonElement>(Path("vhosts"), cancellationToken);
        return [.. hosts.EnumerateArray().Select(host => (host.GetProperty("name").GetString()!, DescriptionOf(host)))];
    }

    private static string DescriptionOf(JsonElement host) =>
        host.TryGetProperty("description", out var description) && description.ValueKind is JsonValueKind.String ? description.GetString()! : "";

    private async Task PutAsync(Uri path, object body, CancellationToken cancellationToken)
    {
        using var response = await client.PutAsJsonAsync(path, body, cancellationToken);
        response.EnsureSuccessStatusCode();
    }

    private static Uri Path(params IEnumerable<string> parts) => new("api/" + string.Join('/', parts.Select(Uri.EscapeDataString)), UriKind.Relative);
}
