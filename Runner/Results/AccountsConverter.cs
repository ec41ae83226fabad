using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Guarantees;

namespace Kit.Runner.Results;

/// <summary>
/// Messages by class. Rounds that were stored while rounds had classes of their own say <c>error</c>, with at most one
/// row; that is read as <see cref="DeliveryClass.CleanError"/>, which has none.
/// </summary>
public sealed class AccountsConverter : JsonConverter<IReadOnlyDictionary<DeliveryClass, int>>
{
    private const string Earlier = "error";

    private static readonly Dictionary<string, DeliveryClass> ByName = Enum.GetValues<DeliveryClass>()
        .ToDictionary(NameOf).Append(new(Earlier, DeliveryClass.CleanError)).ToDictionary();

    public override IReadOnlyDictionary<DeliveryClass, int> Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        var stored = JsonSerializer.Deserialize<Dictionary<string, int>>(ref reader, options) ?? throw new JsonException("Accounts are missing.");
        var accounts = new Dictionary<DeliveryClass, int>();
        foreach (var (name, messages) in stored)
        {
            if (!ByName.TryGetValue(name, out var known))
                throw new JsonException($"'{name}' is no class of messages.");
            if (!accounts.TryAdd(known, messages))
                throw new JsonException($"'{name}' names a class of messages for the second time.");
        }

        return accounts;
    }

    public override void Write(Utf8JsonWriter writer, IReadOnlyDictionary<DeliveryClass, int> value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value.ToDictionary(account => NameOf(account.Key), account => account.Value), options);

    private static string NameOf(DeliveryClass deliveryClass) => JsonNamingPolicy.CamelCase.ConvertName(deliveryClass.ToString());
}
