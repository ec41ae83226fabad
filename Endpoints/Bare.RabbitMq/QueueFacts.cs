using System.Text.Json;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>A queue as the management plugin describes it: its arguments, and its effective policy.</summary>
/// <param name="queue">The queue.</param>
/// <param name="policy">The name of its policy; <see langword="null"/> if it has none.</param>
/// <param name="inForce">The combined definition of its policy and an operator policy.</param>
internal sealed class QueueFacts(JsonElement queue, string? policy, JsonElement inForce)
{
    private readonly JsonElement arguments = queue.GetProperty("arguments");

    public string Name { get; } = queue.GetProperty("name").GetString()!;

    public string Type { get; } = TextIn(queue, "type") ?? "classic";

    public bool IsDurable { get; } = queue.GetProperty("durable").GetBoolean();

    public bool IsDeletedWithItsConsumers { get; } = queue.GetProperty("auto_delete").GetBoolean();

    public string? Policy => policy;

    /// <summary>A number that argument and policy can both set: the lower one applies; below 0 means none.</summary>
    public long? Lower(string key) => (ArgumentNumber(key), NumberIn(inForce, key)) switch
    {
        ({ } argument, { } policy) => argument < 0 || policy < 0 ? Math.Max(argument, policy) : Math.Min(argument, policy),
        var (argument, policy) => argument ?? policy,
    };

    /// <summary>A number that the queue was created with, and that cannot be changed.</summary>
    public long? ArgumentNumber(string key) => NumberIn(arguments, "x-" + key);

    /// <summary>A text for which the argument takes precedence over the policy.</summary>
    public string? ArgumentFirst(string key) => TextIn(arguments, "x-" + key) ?? TextIn(inForce, key);

    /// <summary>A text for which the policy takes precedence over the argument.</summary>
    public string? PolicyFirst(string key) => TextIn(inForce, key) ?? TextIn(arguments, "x-" + key);

    // The plugin writes an object without members as an empty list.
    private static JsonElement? MemberOf(JsonElement parent, string key) =>
        parent.ValueKind is JsonValueKind.Object && parent.TryGetProperty(key, out var member) ? member : null;

    private static long? NumberIn(JsonElement parent, string key) =>
        MemberOf(parent, key) is { ValueKind: JsonValueKind.Number } number ? number.GetInt64() : null;

    private static string? TextIn(JsonElement parent, string key) =>
        MemberOf(parent, key) is { ValueKind: JsonValueKind.String } text ? text.GetString() : null;
}
