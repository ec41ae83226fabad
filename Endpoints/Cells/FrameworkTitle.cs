namespace Kit.Endpoints.Cells;

/// <summary>A framework as its makers write it.</summary>
public static class FrameworkTitle
{
    private static readonly Dictionary<string, string> Titles = new(StringComparer.Ordinal)
    {
        ["masstransit"] = "MassTransit",
        ["nservicebus"] = "NServiceBus",
    };

    public static string Of(string framework) => Titles.GetValueOrDefault(framework, framework);
}
