using System.Text.Json;
using JasperFx.CodeGeneration;
using Kit.Handlers;
using Kit.Modes;
using Wolverine;

namespace Kit.Endpoints.Cells;

/// <summary>The Wolverine cells on every transport: the comparison's settings, and the ids of messages.</summary>
internal static class WolverineEndpoint
{
    // Wolverine stops receiving when more messages than the first are in memory, and goes on at the second. It looks every 2 s, and must still find some
    // there: at its defaults, 1,000 and 500, it had handled them all in that time, and waited.
    public const int MostInMemory = 10_000;
    public const int FewInMemory = 5_000;

    public static Support IsForOneProcess { get; } = Support.No("its cells run in Wolverine's Solo mode, which is for one process");

    /// <summary>What the comparison requires: one process, no compiler in it, and bodies as in the other frameworks.</summary>
    public static void SetForComparison(WolverineOptions wolverine)
    {
        wolverine.ApplicationAssembly = typeof(WolverineEndpoint).Assembly;
        wolverine.CodeGeneration.TypeLoadMode = TypeLoadMode.Static;
        wolverine.Discovery.DisableConventionalDiscovery();
        wolverine.Durability.Mode = DurabilityMode.Solo;
        wolverine.UseSystemTextJsonForSerialization(json => json.PropertyNamingPolicy = null);
    }

    /// <summary>Wolverine gives a message that is sent an id of its own. The message that caused it is in its body.</summary>
    /// <param name="id">The id of the message itself.</param>
    public static Guid IdOf(Guid id, ReadOnlyMemory<byte> body)
    {
        try
        {
            using var json = JsonDocument.Parse(body);
            return json.RootElement.TryGetProperty(nameof(BuildWidget.MessageId), out var named) && named.TryGetGuid(out var causedBy) ? causedBy : id;
        }
        catch (JsonException)
        {
            return id;
        }
    }
}
