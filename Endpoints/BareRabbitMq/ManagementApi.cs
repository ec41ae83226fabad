using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// The management plugin's HTTP interface, asked for totals alone (<c>disable_stats</c> with <c>enable_queue_totals</c>). For a classic queue it then
/// asks the queue itself, and the answer is of this moment; the statistics that it gives otherwise are 5 s old. A quorum queue tells its totals
/// every 5 s at best.
/// </summary>
internal sealed class ManagementApi : IDisposable
{
    private readonly RabbitMqAddress address;
    private readonly HttpClient http;

    public ManagementApi(RabbitMqAddress address)
    {
        this.address = address;
        http = new HttpClient { BaseAddress = address.Management, Timeout = TimeSpan.FromSeconds(10) };
        var secret = $"{address.Credentials.UserName}:{address.Credentials.Password}";
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes(secret)));
    }

    /// <summary>How many messages lie ready and unacknowledged in each of the queues of the virtual host that are named so or begin so.</summary>
    /// <exception cref="BrokerException">The plugin does not answer or refuses.</exception>
    public async Task<IReadOnlyDictionary<string, long>> CountAsync(string namePart, CancellationToken cancellationToken)
    {
        var query = string.Create(
            CultureInfo.InvariantCulture,
            $"api/queues/{Uri.EscapeDataString(address.VirtualHost)}?disable_stats=true&enable_queue_totals=true&page=1&page_size=500&use_regex=false&name={Uri.EscapeDataString(namePart)}");
        using var answer = await GetAsync(query, cancellationToken);
        if (answer.StatusCode is HttpStatusCode.Unauthorized or HttpStatusCode.Forbidden)
            throw new BrokerException($"The management plugin at {address.Management} refuses user '{address.Credentials.UserName}': it needs the tag 'management'.");

        answer.EnsureSuccessStatusCode();
        using var document = JsonDocument.Parse(await answer.Content.ReadAsStringAsync(cancellationToken));
        return document.RootElement.GetProperty("items").EnumerateArray().ToDictionary(
            queue => queue.GetProperty("name").GetString()!,
            queue => queue.TryGetProperty("messages", out var messages) ? messages.GetInt64() : 0);
    }

    public void Dispose() => http.Dispose();

    private async Task<HttpResponseMessage> GetAsync(string query, CancellationToken cancellationToken)
    {
        try
        {
            return await http.GetAsync(new Uri(query, UriKind.Relative), cancellationToken);
        }
        catch (Exception failure) when (failure is HttpRequestException or TaskCanceledException && !cancellationToken.IsCancellationRequested)
        {
            throw new BrokerException(
                $"RabbitMQ's management plugin does not answer at {address.Management}; the kit counts unacknowledged messages with it. " +
                "Enable it (rabbitmq-plugins enable rabbitmq_management), or add ?management=http://host:port to the broker's address.",
                failure);
        }
    }
}
