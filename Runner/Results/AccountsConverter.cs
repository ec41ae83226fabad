using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Guarantees;

namespace Kit.Runner.Results;

/// <summary>
/// Messages by class. Old rounds, which had classes of their own, contain <c>error</c> (with at most one row); it is read as
/// <see cref="DeliveryClass.CleanError"/>, which has no row.
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
                throw new JsonException($"'{name}' is not a class of messages.");
            if (!accounts.TryAdd(known, messages))
                throw new JsonException($"'{name}' names a class of messages a second time.");
        }

        return accounts;
    }

    public override void Write(Utf8JsonWriter writer, IReadOnlyDictionary<DeliveryClass, int> value, JsonSerializerOptions options) =>
        JsonSerializer.Serialize(writer, value.ToDictionary(account => NameOf(account.Key), account => account.Value), options);

    private static string NameOf(DeliveryClass deliveryClass) => JsonNamingPolicy.CamelCase.ConvertName(deliveryClass.ToString());
}
