using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>What an experiment's handler does at which moment of its attempts at the chosen message; all others are handled without a fault.</summary>
/// <param name="Acts">In order; several can have one moment.</param>
internal sealed record HandlerScript(params IReadOnlyList<ScriptedAct> Acts)
{
    public static HandlerScript None { get; } = new();

    /// <summary>The moment at which it waits to be killed; <see langword="null"/>: it does not.</summary>
    public AttemptPoint? ParksAt { get; init; }

    /// <summary>The timeout of the handler's transaction; <see langword="null"/>: the default.</summary>
    public TimeSpan? TransactionTimeout { get; init; }
}

/// <summary>An act at a moment.</summary>
/// <param name="IsOnce">True if only the process's first attempt at the message does it.</param>
internal sealed record ScriptedAct(AttemptPoint At, bool IsOnce, [property: JsonConverter(typeof(HandlerActConverter))] HandlerAct Act)
{
    /// <summary>An act of every attempt.</summary>
    public static ScriptedAct Always(AttemptPoint at, HandlerAct act) => new(at, IsOnce: false, act);

    /// <summary>An act of the first attempt.</summary>
    public static ScriptedAct Once(AttemptPoint at, HandlerAct act) => new(at, IsOnce: true, act);
}

/// <summary>
/// An act of an experiment's handler. It stands next to the fault that needs it, and the handler's process, which is of the same build, finds it.
/// </summary>
internal abstract record HandlerAct
{
    public abstract Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken);
}

/// <summary>An act by the name of its type.</summary>
internal sealed class HandlerActConverter : JsonConverter<HandlerAct>
{
    public override HandlerAct Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        var act = JsonSerializer.Deserialize<ActWithType>(ref reader, options) ?? throw new JsonException("Expected an act.");
        return (HandlerAct)act.Act.Deserialize(Type.GetType(act.Type, throwOnError: true)!, options)!;
    }

    public override void Write(Utf8JsonWriter writer, HandlerAct value, JsonSerializerOptions options) => JsonSerializer.Serialize(
        writer, new ActWithType(value.GetType().AssemblyQualifiedName!, JsonSerializer.SerializeToElement(value, value.GetType(), options)), options);

    private sealed record ActWithType(string Type, JsonElement Act);
}
