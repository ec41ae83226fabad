using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Faults;

/// <summary>The worst outcome of a message in the storms over a cell, the mildest first.</summary>
public enum Loss
{
    /// <summary>Every message was handled exactly once.</summary>
    Nothing,

    /// <summary>Rows once, and the handler's message twice.</summary>
    SentTwice,

    /// <summary>Rows twice.</summary>
    Doubled,

    /// <summary>In the error queue without any effect, or still in its queue.</summary>
    Left,

    /// <summary>Every message exactly once, and another promise was broken: a prepared transaction is left over, for example.</summary>
    AnotherPromise,

    /// <summary>Some of its work is there, and the rest is not.</summary>
    HalfDone,

    /// <summary>Neither the message nor any effect is anywhere.</summary>
    Lost,

    /// <summary>No storm of this very build shows it.</summary>
    Unproven,
}

/// <summary>Judges storms.</summary>
public static class LossOf
{
    /// <param name="storms">The storms of one cell and of the measured build.</param>
    internal static Loss Storms(IEnumerable<FaultResult> storms) => storms
        .Select(storm => storm.Observed.Max(seen => (Loss?)Of(seen.Class)) switch
        {
            null => Loss.Unproven,
            Loss.Nothing when storm.Verdict is FaultVerdict.Broken => Loss.AnotherPromise,
            { } worst => worst,
        })
        .Append(Loss.Nothing)
        .Max();

    /// <summary>A loss as a heading.</summary>
    /// <exception cref="NotSupportedException">There is no text for it.</exception>
    public static string Title(Loss loss) => loss switch
    {
        Loss.Nothing => "Every message exactly once",
        Loss.SentTwice => "Rows once, some messages sent twice",
        Loss.Doubled => "Some rows doubled",
        Loss.Left => "Some messages given up",
        Loss.AnotherPromise => "Every message exactly once, and another promise broken",
        Loss.HalfDone => "Some work half done",
        Loss.Lost => "Some messages lost",
        Loss.Unproven => "No proof for this build",
        _ => throw new NotSupportedException($"There is no title for '{loss}'."),
    };

    /// <summary>The loss of a message in a class.</summary>
    /// <exception cref="NotSupportedException">Nobody has said what is lost in it.</exception>
    internal static Loss Of(DeliveryClass kind) => kind switch
    {
        DeliveryClass.Once or DeliveryClass.Recovered => Loss.Nothing,
        DeliveryClass.DuplicatedOutgoing => Loss.SentTwice,
        DeliveryClass.Duplicated => Loss.Doubled,
        DeliveryClass.CleanError or DeliveryClass.Stuck => Loss.Left,
        DeliveryClass.Torn or DeliveryClass.InDoubt or DeliveryClass.Ghost or DeliveryClass.Zombie or DeliveryClass.Unexpected => Loss.HalfDone,
        DeliveryClass.Lost => Loss.Lost,
        _ => throw new NotSupportedException($"Nobody has said what is lost in the class '{kind}'."),
    };
}
