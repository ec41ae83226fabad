using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Runner.Servers;

/// <summary>A queue of RabbitMQ that is full although it is empty, and rejects every message (<c>x-overflow=reject-publish</c>). Disposing ends that.</summary>
public sealed class RefusingQueue : IAsyncDisposable
{
    private const string Policy = "kit-refuses";

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(25);

    private static readonly IReadOnlyDictionary<string, object> Definition = new Dictionary<string, object>
    {
        ["max-length"] = 0,
        ["overflow"] = "reject-publish",
    };

    private readonly ManagementApi management;
    private bool refuses;

    private RefusingQueue(RabbitMqAddress broker) => management = new ManagementApi(broker);

    /// <param name="broker">Broker and virtual host, with an administrator's rights.</param>
    /// <param name="queue">If the queue is created later, it refuses from then on.</param>
    /// <exception cref="HttpRequestException">The management plugin does not answer, or refuses.</exception>
    public static async Task<RefusingQueue> MakeAsync(RabbitMqAddress broker, string queue, CancellationToken cancellationToken)
    {
        var made = new RefusingQueue(broker);
        try
        {
            await made.management.SetPolicyAsync(Policy, queue, Definition, cancellationToken);
            made.refuses = true;
            if ((await made.management.ReadNamesAsync("queues", cancellationToken)).Contains(queue))
            {
                while ((await made.management.ReadQueueAsync(queue, cancellationToken)).Policy != Policy)
                    await Task.Delay(Pause, cancellationToken);
            }

            return made;
        }
        catch
        {
            await made.DisposeAsync();
            throw;
        }
    }

    /// <summary>The queue takes messages again; a second call does nothing.</summary>
    public async ValueTask DisposeAsync()
    {
        if (refuses)
            await management.RemovePolicyAsync(Policy, CancellationToken.None);
        refuses = false;
        management.Dispose();
    }
}
