using System.Text.Json;

namespace Kit.Guarantees;

/// <summary>Names as the command line and the journal write them: <c>in-doubt</c>, <c>after-insert</c>.</summary>
public static class Words
{
    public static string Of<T>(T value) where T : struct, Enum => JsonNamingPolicy.KebabCaseLower.ConvertName(value.ToString());

    /// <summary>The name of a class as a column of a CSV file: <c>in_doubt</c>.</summary>
    public static string ColumnOf(DeliveryClass deliveryClass) => Of(deliveryClass).Replace('-', '_');

    /// <summary>Several classes, in the order of <see cref="DeliveryClass"/>: <c>duplicated/once</c>.</summary>
    public static string Of(IEnumerable<DeliveryClass> classes) => string.Join('/', classes.Order().Select(Of));
}
