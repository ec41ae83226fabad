using System.Globalization;
using System.Text.Json;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>What of a queue that was there before its endpoint can lose messages: what was found, what was expected, what to do.</summary>
internal sealed class QueueConcerns(QueueFacts queue, QueueNames names, RabbitMqAddress broker)
{
    private const string CreateAnew = "empty the queue, delete it, and the endpoint creates it anew.";

    private bool IsErrors => queue.Name == names.Errors;

    public IEnumerable<string> Find()
    {
        if (names.Type is QueueType.Quorum)
        {
            if (DeliveryLimit() is { } limit)
                yield return limit;
            if (!IsErrors && DeadLetters() is { } deadLetters)
                yield return deadLetters;
        }

        if (queue.Lower("message-ttl") is { } age)
            yield return Unwanted("message-ttl", $"drops messages that are older than {age} ms");
        if (queue.Lower("expires") is { } idle)
            yield return Unwanted("expires", $"is deleted with its messages when nobody used it for {idle} ms");
        foreach (var (key, unit) in new[] { ("max-length", "messages"), ("max-length-bytes", "bytes") })
        {
            if (queue.Lower(key) is { } length && !RejectsPublishes)
                yield return Unwanted(key, $"holds {length} {unit} at most and drops the oldest message when it is full");
        }
    }

    private bool RejectsPublishes => queue.PolicyFirst("overflow")?.StartsWith("reject-publish", StringComparison.Ordinal) == true;

    // A dot is the one character that names often have and patterns read otherwise.
    private string Pattern => queue.Name.Replace(".", "\\.", StringComparison.Ordinal);

    private string? DeliveryLimit()
    {
        var limit = queue.Lower("delivery-limit");
        if (limit is < 0 or >= QueueArguments.DeliveryLimit)
            return null;

        var found = limit is null
            ? "has no delivery limit set: from RabbitMQ 4.0 on the broker then gives a message up after 20 deliveries, " +
              "those included that were only prefetched"
            : Invariant($"has a delivery limit of {limit}, and deliveries count that were only prefetched");
        var expected = Invariant($"Expected: {QueueArguments.DeliveryLimit}.");
        return queue.ArgumentNumber("delivery-limit") is >= 0 and < QueueArguments.DeliveryLimit
            ? $"{Named(found)}. {expected} The queue was created with it, and no policy raises it: {CreateAnew}"
            : $"{Named(found)}. {expected} {SetPolicy()}";
    }

    private string? DeadLetters()
    {
        if (queue.ArgumentFirst("dead-letter-exchange") is null)
        {
            return $"{Named("has no dead-letter exchange: the broker drops a message that it gives up")}. " +
                   $"Expected: the queue '{names.Errors}' takes it. {SetPolicy()}";
        }

        return queue.ArgumentFirst("dead-letter-strategy") == "at-least-once" && queue.PolicyFirst("overflow") == "reject-publish" ? null :
            $"{Named("dead-letters at most once: the broker forgets a message that it gives up before another queue has it")}. " +
            $"Expected: dead-letter-strategy at-least-once, with overflow reject-publish. {SetPolicy()}";
    }

    private string Unwanted(string key, string found) =>
        $"{Named(found)}. Expected: no {key}. " + (queue.ArgumentNumber(key) is null
            ? $"Take {key} out of its policy{(queue.Policy is null ? "" : $" '{queue.Policy}'")}."
            : $"The queue was created with it: {CreateAnew}");

    private string Named(string found) => $"Queue '{queue.Name}' {found}";

    /// <summary>A queue has one policy alone.</summary>
    private string SetPolicy()
    {
        var definition = JsonSerializer.Serialize(QueueArguments.Of(QueueType.Quorum, IsErrors ? null : names.Errors)
            .Where(argument => argument.Key != "x-queue-type")
            .ToDictionary(argument => argument.Key["x-".Length..], argument => argument.Value));
        return queue.Policy is { } policy
            ? $"Add to its policy '{policy}': {definition}"
            : $"Set a policy: rabbitmqctl set_policy -p '{broker.VirtualHost}' --apply-to queues '{queue.Name}' '^{Pattern}$' '{definition}'";
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
