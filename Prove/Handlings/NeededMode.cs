using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Results.Published;

namespace Kit.Prove.Handlings;

/// <summary>The mode that a file's promise needs, and its published price.</summary>
internal static class NeededMode
{
    public static IEnumerable<string> Of(ProofFile file, Observation seen, SeenMode has)
    {
        if (has.Promise is null)
            yield break;

        var promised = NamedPromises.TextOf(file.Promised);
        if (NamedPromises.All[has.Promise].IsSubsetOf(file.Promised))
        {
            yield return $"Promised is {promised}: it needs no other mode.";
            yield break;
        }

        var place = PlaceOf(file, seen);
        var needed = ModeChoice.Of(new HandlerNeeds(place, ToleranceOf(file.Promised), SeesRows: false))[0];
        // Where rows and queue are apart, the sends of the outbox can come twice, and nothing prevents that.
        if (place is RowsPlace.Elsewhere && !file.Promised.Contains(DeliveryClass.DuplicatedOutgoing) && file.Effects.Any(effect => effect.IsSent))
        {
            yield return $"Promised is {promised}. No mode of the kit gives that: what is sent to a broker can be sent twice after a crash.";
            yield break;
        }

        yield return $"Promised is {promised}, which the mode {needed} gives. No other mode is needed if the handler bears a message that comes twice: " +
            "crashes show that.";
        var transport = file.NeedsBroker && place is RowsPlace.Elsewhere ? "rabbitmq" : "postgresql";
        yield return has.Mode is { } mode && PublishedRatio.Find(transport, needed.Name, mode) is { } ratio
            ? $"What that costs is published: {ratio}."
            : "What that costs is not published.";
    }

    private static RowsPlace PlaceOf(ProofFile file, Observation seen)
    {
        if (seen.QueueTables.Count == 0)
            return RowsPlace.Elsewhere;

        var queues = seen.Sends.Select(send => send.Database).ToHashSet();
        return file.Effects.OfType<RowEffect>().All(row => queues.Contains(row.Database)) ? RowsPlace.SameDatabase : RowsPlace.SameServer;
    }

    private static Tolerance ToleranceOf(IReadOnlySet<DeliveryClass> promised) =>
        promised.Contains(DeliveryClass.Lost) ? Tolerance.Loss
        : promised.Contains(DeliveryClass.Duplicated) ? Tolerance.Twice
        : Tolerance.Once;
}
