using System.Buffers.Binary;

namespace Kit.Runner.Wire;

/// <summary>The requests of one AMQP channel that wait for an answer, or for a proof that the server has acted on them.</summary>
internal sealed class AmqpChannel
{
    private readonly List<(AmqpMethod Method, WireRequest Request)> waiting = [];
    private readonly List<(long Tag, WireRequest Request)> publishes = [];
    private readonly List<WireRequest> unproved = [];
    private long published;

    /// <summary>True if the server confirms publishes.</summary>
    public bool Confirms { get; private set; }

    /// <summary>True if neither side has ended it.</summary>
    public bool IsOpen { get; private set; } = true;

    /// <summary>
    /// True if the server must be asked for a proof that it has acted. The answer to a close of the channel is one, and nothing may be asked after that.
    /// </summary>
    public bool NeedsProof => unproved.Count > 0 && IsOpen && !Awaits(AmqpMethod.ChannelClose);

    public bool IsSettled => waiting.Count == 0 && publishes.Count == 0 && unproved.Count == 0;

    /// <summary>True if the client waits for the answer to this method.</summary>
    public bool Awaits(AmqpMethod method) => waiting.Exists(one => one.Method == method);

    public void Await(AmqpMethod method, WireRequest request)
    {
        Confirms |= method == AmqpMethod.ConfirmSelect;
        if (!request.HasAnswer)
            unproved.Add(request);
        else if (method.IsSynchronous)
            waiting.Add((method, request));
        else
            publishes.Add((++published, request));
    }

    /// <summary>Sees a method of the server.</summary>
    /// <param name="arguments">
    /// Only a confirmation's or a refusal's are read: the tag, and the bit that includes earlier ones.
    /// </param>
    /// <returns>The requests whose answers are complete with it.</returns>
    public IReadOnlyList<WireRequest> See(AmqpMethod method, ReadOnlySpan<byte> arguments)
    {
        if (method == AmqpMethod.ChannelClose)
            return Break($"{method}");
        if (method == AmqpMethod.Acknowledge || method == AmqpMethod.Refuse)
            return Confirm(method, BinaryPrimitives.ReadInt64BigEndian(arguments), isMultiple: (arguments[8] & 1) != 0);
        if (!method.IsReply)
            return [];

        var at = waiting.FindIndex(one => one.Method == method.Asked);
        if (at < 0)
            return method.Asked == AmqpMethod.Flow ? Prove() : [];

        var (_, request) = waiting[at];
        waiting.RemoveAt(at);
        var asked = Complete(request, $"{method}");
        return method.Asked == AmqpMethod.ChannelClose ? [.. Prove(), asked, .. Break($"{method}")] : [asked];
    }

    /// <summary>The channel has ended: the server answers nothing more.</summary>
    public IReadOnlyList<WireRequest> Break(string how)
    {
        List<WireRequest> broken =
        [
            .. waiting.Select(one => Complete(one.Request, how)), .. publishes.Select(one => Complete(one.Request, how)),
            .. unproved.Select(one => Complete(one, how)),
        ];
        waiting.Clear();
        publishes.Clear();
        unproved.Clear();
        IsOpen = false;
        return broken;
    }

    /// <summary>Ends the publishes that the server has confirmed, or refused with <c>basic.nack</c>.</summary>
    private IReadOnlyList<WireRequest> Confirm(AmqpMethod how, long tag, bool isMultiple)
    {
        List<WireRequest> confirmed = [.. publishes.Where(one => one.Tag == tag || (isMultiple && (one.Tag <= tag || tag == 0))).Select(one => one.Request)];
        publishes.RemoveAll(one => confirmed.Contains(one.Request));
        return [.. confirmed.Select(one => Complete(one, $"{how}"))];
    }

    private List<WireRequest> Prove()
    {
        List<WireRequest> proved = [.. unproved.Select(one => Complete(one, outcome: null))];
        unproved.Clear();
        return proved;
    }

    private static WireRequest Complete(WireRequest request, string? outcome)
    {
        (request.Outcome, request.IsAnswered) = (outcome, true);
        return request;
    }
}
