using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The part of the management plugin's HTTP API that the kit needs: https://www.rabbitmq.com/docs/http-api-reference.</summary>
internal sealed class ManagementApi : IDisposable
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(30);

    // The broker ends every queue of a virtual host, with all its messages.
    private static readonly TimeSpan ToRemove = TimeSpan.FromMinutes(5);

    // Short, because an endpoint can start without the answer.
    private static readonly TimeSpan LookTimeout = TimeSpan.FromSeconds(3);

    private readonly HttpClient client;
    private readonly RabbitMqAddress broker;

    public ManagementApi(RabbitMqAddress broker)
    {
        this.broker = broker;
        client = ClientOf(broker, Timeout);
    }

    public void Dispose() => client.Dispose();

    /// <summary>Why our user cannot use the plugin, as part of a sentence; <see langword="null"/> if it can.</summary>
    public async Task<string?> WhyAbsentAsync(CancellationToken cancellationToken)
    {
        try
        {
            using var response = await client.GetAsync(Path("whoami"), cancellationToken);
            return response.StatusCode switch
            {
                HttpStatusCode.OK when response.Content.Headers.ContentType?.MediaType is "application/json" => null,
                HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden => $"it refuses user {broker.UserName}, who has none of its tags",
                var status => $"another service answers there ({(int)status})",
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

    /// <summary>Whether our user may create virtual hosts, which requires the tag <c>administrator</c>.</summary>
    /// <exception cref="HttpRequestException">The plugin does not answer, or refuses.</exception>
    public async Task<bool> IsAdministratorAsync(CancellationToken cancellationToken)
    {
        var user = await client.GetFromJsonAsync<JsonElement>(Path("whoami"), cancellationToken);
        // A list or, before version 3.9, a text with commas.
        var tags = user.GetProperty("tags");
        return (tags.ValueKind is JsonValueKind.Array ? tags.EnumerateArray().Select(tag => tag.GetString()) : tags.GetString()!.Split(','))
            .Contains("administrator", StringComparer.Ordinal);
    }

    /// <summary>Creates a virtual host and grants our user all permissions in it.</summary>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task CreateVirtualHostAsync(string name, string description, CancellationToken cancellationToken)
    {
        await PutAsync(Path("vhosts", name), new { description }, cancellationToken);
        await PutAsync(Path("permissions", name, broker.UserName), new { configure = ".*", write = ".*", read = ".*" }, cancellationToken);
    }

    /// <summary>Removes a virtual host and everything in it, within 5 minutes. It is no error if it does not exist.</summary>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task RemoveVirtualHostAsync(string name, CancellationToken cancellationToken)
    {
        using var patient = ClientOf(broker, ToRemove);
        using var response = await patient.DeleteAsync(Path("vhosts", name), cancellationToken);
        if (response.StatusCode != HttpStatusCode.NotFound)
            response.EnsureSuccessStatusCode();
    }

    /// <summary>Reads the virtual hosts that our user may see, with their descriptions.</summary>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task<IReadOnlyList<(string Name, string Description)>> ReadVirtualHostsAsync(CancellationToken cancellationToken)
    {
        var hosts = await client.GetFromJsonAsync<JsonElement>(Path("vhosts"), cancellationToken);
        return [.. hosts.EnumerateArray().Select(host => (host.GetProperty("name").GetString()!, DescriptionOf(host)))];
    }

    /// <summary>Sets a policy for one queue, whether or not that exists.</summary>
    /// <param name="name">The policy's name.</param>
    /// <param name="queue">The queue.</param>
    /// <param name="definition">What it sets, by the broker's keys.</param>
    /// <param name="cancellationToken">Ends the call.</param>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public Task SetPolicyAsync(string name, string queue, IReadOnlyDictionary<string, object> definition, CancellationToken cancellationToken) => PutAsync(
        Path("policies", broker.VirtualHost, name),
        new Dictionary<string, object> { ["pattern"] = $"^{Regex.Escape(queue)}$", ["definition"] = definition, ["apply-to"] = "queues" },
        cancellationToken);

    /// <summary>Removes a policy.</summary>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task RemovePolicyAsync(string name, CancellationToken cancellationToken)
    {
        using var response = await client.DeleteAsync(Path("policies", broker.VirtualHost, name), cancellationToken);
        response.EnsureSuccessStatusCode();
    }

    /// <summary>Counts the ready and unacknowledged messages in each queue of the virtual host whose name contains a text.</summary>
    /// <remarks>
    /// Requests only totals (<c>disable_stats</c> with <c>enable_queue_totals</c>): for a classic queue the plugin then asks the queue itself, and the
    /// answer is current, while the plugin's statistics are up to 5 s old. A quorum queue reports its totals at most every 5 s.
    /// </remarks>
    /// <exception cref="BrokerException">The plugin does not answer or refuses.</exception>
    public async Task<IReadOnlyDictionary<string, long>> CountAsync(string namePart, CancellationToken cancellationToken)
    {
        var query = string.Create(
            CultureInfo.InvariantCulture,
            $"api/queues/{Uri.EscapeDataString(broker.VirtualHost)}?disable_stats=true&enable_queue_totals=true&page=1&page_size=500" +
            $"&use_regex=false&name={Uri.EscapeDataString(namePart)}");
        using var answer = await GetAsync(query, cancellationToken);
        if (answer.StatusCode is HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden)
            throw new BrokerException($"The management plugin at {broker.Management} refuses user '{broker.UserName}': it needs the tag 'management'.");

        answer.EnsureSuccessStatusCode();
        using var document = JsonDocument.Parse(await answer.Content.ReadAsStringAsync(cancellationToken));
        return document.RootElement.GetProperty("items").EnumerateArray().ToDictionary(
            queue => queue.GetProperty("name").GetString()!,
            queue => queue.TryGetProperty("messages", out var messages) ? messages.GetInt64() : 0);
    }

    /// <summary>Reads a queue's current arguments and policy.</summary>
    /// <exception cref="BrokerException">The plugin does not answer within 3 s, refuses, or has no such queue.</exception>
    public async Task<QueueFacts> ReadQueueAsync(string name, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(LookTimeout);
        try
        {
            var queue = await client.GetFromJsonAsync<JsonElement>(Path("queues", broker.VirtualHost, name), limit.Token);
            if (queue.TryGetProperty("effective_policy_definition", out var inForce))
                return new QueueFacts(queue, PolicyOf(queue), inForce);

            // The definition is part of the statistics, which begin some seconds after the queue. The name of the policy is available earlier.
            var policy = await ReadPolicyNameAsync(name, limit.Token);
            return new QueueFacts(queue, policy, policy is null ? default : await ReadPolicyAsync(policy, limit.Token));
        }
        catch (Exception failure) when (failure is HttpRequestException or JsonException or KeyNotFoundException)
        {
            throw new BrokerException($"RabbitMQ's management plugin at {broker.Management} does not describe the queue: {failure.Message}", failure);
        }
        catch (OperationCanceledException late) when (!cancellationToken.IsCancellationRequested)
        {
            throw new BrokerException(
                $"RabbitMQ's management plugin at {broker.Management} does not answer within {LookTimeout.TotalSeconds:F0} s.", late);
        }
    }

    private async Task<string?> ReadPolicyNameAsync(string queue, CancellationToken cancellationToken)
    {
        var query = $"{Path("queues", broker.VirtualHost)}?disable_stats=true&page=1&page_size=500&use_regex=false&name={Uri.EscapeDataString(queue)}";
        var named = await client.GetFromJsonAsync<JsonElement>(new Uri(query, UriKind.Relative), cancellationToken);
        return named.GetProperty("items").EnumerateArray()
            .Where(one => one.GetProperty("name").GetString() == queue)
            .Select(PolicyOf)
            .FirstOrDefault();
    }

    private async Task<JsonElement> ReadPolicyAsync(string policy, CancellationToken cancellationToken) =>
        (await client.GetFromJsonAsync<JsonElement>(Path("policies", broker.VirtualHost, policy), cancellationToken))
        .GetProperty("definition");

    private static string? PolicyOf(JsonElement queue) =>
        queue.TryGetProperty("policy", out var policy) && policy.ValueKind is JsonValueKind.String && policy.GetString() is { Length: > 0 } name
            ? name
            : null;

    private async Task<HttpResponseMessage> GetAsync(string query, CancellationToken cancellationToken)
    {
        try
        {
            return await client.GetAsync(new Uri(query, UriKind.Relative), cancellationToken);
        }
        catch (Exception failure) when (failure is HttpRequestException or TaskCanceledException && !cancellationToken.IsCancellationRequested)
        {
            throw new BrokerException(
                $"RabbitMQ's management plugin does not answer at {broker.Management}, and the kit needs it to count unacknowledged messages. " +
                "Enable it (rabbitmq-plugins enable rabbitmq_management), or add ?management=http://host:port to the broker's address.",
                failure);
        }
    }

    /// <summary>Reads the names of all queues or exchanges of our virtual host.</summary>
    /// <param name="kind">What to read, as the API names it: <c>queues</c> or <c>exchanges</c>.</param>
    /// <param name="cancellationToken">Ends the call.</param>
    /// <inheritdoc cref="IsAdministratorAsync" path="/exception"/>
    public async Task<IReadOnlyList<string>> ReadNamesAsync(string kind, CancellationToken cancellationToken)
    {
        var all = await client.GetFromJsonAsync<JsonElement>(
            new Uri(Path(kind, broker.VirtualHost) + "?disable_stats=true", UriKind.Relative),
            cancellationToken);
        return [.. all.EnumerateArray().Select(one => one.GetProperty("name").GetString()!)];
    }

    private static HttpClient ClientOf(RabbitMqAddress broker, TimeSpan limit)
    {
        // The environment's proxy would be asked for this machine's own address, too, unless NO_PROXY has it in the same words.
        var made = new HttpClient(new SocketsHttpHandler { UseProxy = !broker.Management.IsLoopback }) { BaseAddress = broker.Management, Timeout = limit };
        made.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{broker.UserName}:{broker.Password}")));
        return made;
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
