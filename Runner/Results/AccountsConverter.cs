using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Guarantees;

namespace Kit.Runner.Results;

/// <summary>Messages by class. The serializer's own converter would also read a number, a list or another spelling as a class.</summary>
public sealed class AccountsConverter : JsonConverter<IReadOnlyDictionary<DeliveryClass, int>>
{
    private static readonly Dictionary<string, DeliveryClass> ByName = Enum.GetValues<DeliveryClass>().ToDictionary(NameOf);

    public override IReadOnlyDictionary<DeliveryClass, int> Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        var stored = JsonSerializer.Deserialize<Dictionary<string, int>>(ref reader, options) ?? throw new JsonException("Accounts are missing.");
        return stored.ToDictionary(
            account => ByName.TryGetValue(account.Key, out var known) ? known : throw new JsonException($"'{account.Key}' is not a class of messages."),
            account => account.Value);
    }

    public override void Write(Utf8JsonWriter writer, IReadOnlyDictionary<DeliveryClass, int> value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value.ToDictionary(account => NameOf(account.Key), account => account.Value), options);

    private static string NameOf(DeliveryClass deliveryClass) => JsonNamingPolicy.CamelCase.ConvertName(deliveryClass.ToString());
}
