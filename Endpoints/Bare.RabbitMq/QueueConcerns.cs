using System.Globalization;
using System.Text.Json;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Finds settings of an existing queue that can lose messages: what was found, what was expected, what to do.</summary>
internal sealed class QueueConcerns(QueueFacts queue, QueueNames names, RabbitMqAddress broker)
{
    private const string CreateAnew = "empty and delete the queue, and the endpoint will create it again.";

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
            yield return Unwanted("expires", $"is deleted with its messages when nobody has used it for {idle} ms");
        foreach (var (key, unit) in new[] { ("max-length", "messages"), ("max-length-bytes", "bytes") })
        {
            if (queue.Lower(key) is { } length && !RejectsPublishes)
                yield return Unwanted(key, $"holds at most {length} {unit}, and drops the oldest message when it is full");
        }
    }

    private bool RejectsPublishes => queue.PolicyFirst("overflow")?.StartsWith("reject-publish", StringComparison.Ordinal) == true;

    // Of the characters that are special in a pattern, only the dot is common in names.
    private string Pattern => queue.Name.Replace(".", "\\.", StringComparison.Ordinal);

    private string? DeliveryLimit()
    {
        var limit = queue.Lower("delivery-limit");
        if (limit is < 0 or >= QueueArguments.DeliveryLimit)
            return null;

        var found = limit is null
            ? "has no delivery limit set: RabbitMQ 4.0 and later then give a message up after 20 deliveries, " +
              "including those that were only prefetched"
            : Invariant($"has a delivery limit of {limit}, which also counts deliveries that were only prefetched");
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
                   $"Expected: it goes to queue '{names.Errors}'. {SetPolicy()}";
        }

        return queue.ArgumentFirst("dead-letter-strategy") == "at-least-once" && queue.PolicyFirst("overflow") == "reject-publish" ? null :
            $"{Named("dead-letters at most once: the broker removes a message that it gives up before another queue has it")}. " +
            $"Expected: dead-letter-strategy at-least-once, with overflow reject-publish. {SetPolicy()}";
    }

    private string Unwanted(string key, string found) =>
        $"{Named(found)}. Expected: no {key}. " + (queue.ArgumentNumber(key) is null
            ? $"Remove {key} from its policy{(queue.Policy is null ? "" : $" '{queue.Policy}'")}."
            : $"The queue was created with it: {CreateAnew}");

    private string Named(string found) => $"Queue '{queue.Name}' {found}";

    /// <summary>How to set the policy. A queue can have only one.</summary>
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
