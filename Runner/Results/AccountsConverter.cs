using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Guarantees;

namespace Kit.Runner.Results;

/// <summary>
/// Messages by class. Rounds that were stored while rounds had classes of their own say <c>error</c> for <see cref="DeliveryClass.CleanError"/>.
/// </summary>
public sealed class AccountsConverter : JsonConverter<IReadOnlyDictionary<DeliveryClass, int>>
{
    private const string Earlier = "error";

    public override IReadOnlyDictionary<DeliveryClass, int> Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        (JsonSerializer.Deserialize<Dictionary<string, int>>(ref reader, options) ?? throw new JsonException("Accounts are missing."))
        .ToDictionary(account => ClassOf(account.Key), account => account.Value);

    public override void Write(Utf8JsonWriter writer, IReadOnlyDictionary<DeliveryClass, int> value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value.ToDictionary(account => NameOf(account.Key), account => account.Value), options);

    private static string NameOf(DeliveryClass deliveryClass) => JsonNamingPolicy.CamelCase.ConvertName(deliveryClass.ToString());

    private static DeliveryClass ClassOf(string name) =>
        string.Equals(name, Earlier, StringComparison.Ordinal) ? DeliveryClass.CleanError
        : Enum.TryParse<DeliveryClass>(name, ignoreCase: true, out var known) ? known
        : throw new JsonException($"'{name}' is no class of messages.");
}
