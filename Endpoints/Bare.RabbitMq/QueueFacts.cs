using System.Text.Json;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>A queue as the management plugin tells it: its arguments, and the policy that is in force for it.</summary>
/// <param name="queue">The queue.</param>
/// <param name="policy">The name of its policy, or <see langword="null"/> without one.</param>
/// <param name="inForce">What its policy, and an operator's, define together.</param>
internal sealed class QueueFacts(JsonElement queue, string? policy, JsonElement inForce)
{
    private readonly JsonElement arguments = queue.GetProperty("arguments");

    public string Name { get; } = queue.GetProperty("name").GetString()!;

    public string Type { get; } = TextIn(queue, "type") ?? "classic";

    public bool IsDurable { get; } = queue.GetProperty("durable").GetBoolean();

    public bool IsDeletedWithItsConsumers { get; } = queue.GetProperty("auto_delete").GetBoolean();

    public string? Policy => policy;

    /// <summary>A number that argument and policy can both set: the lower one is in force, below 0 is none.</summary>
    public long? Lower(string key) => (ArgumentNumber(key), NumberIn(inForce, key)) switch
    {
        ({ } argument, { } policy) => argument < 0 || policy < 0 ? Math.Max(argument, policy) : Math.Min(argument, policy),
        var (argument, policy) => argument ?? policy,
    };

    /// <summary>A number that the queue was created with, which nobody can change.</summary>
    public long? ArgumentNumber(string key) => NumberIn(arguments, "x-" + key);

    /// <summary>A text of which the argument is in force before the policy's.</summary>
    public string? ArgumentFirst(string key) => TextIn(arguments, "x-" + key) ?? TextIn(inForce, key);

    /// <summary>A text of which the policy's is in force before the argument.</summary>
    public string? PolicyFirst(string key) => TextIn(inForce, key) ?? TextIn(arguments, "x-" + key);

    // An object without members is an empty list there.
    private static JsonElement? MemberOf(JsonElement parent, string key) =>
        parent.ValueKind is JsonValueKind.Object && parent.TryGetProperty(key, out var member) ? member : null;

    private static long? NumberIn(JsonElement parent, string key) =>
        MemberOf(parent, key) is { ValueKind: JsonValueKind.Number } number ? number.GetInt64() : null;

    private static string? TextIn(JsonElement parent, string key) =>
        MemberOf(parent, key) is { ValueKind: JsonValueKind.String } text ? text.GetString() : null;
}
