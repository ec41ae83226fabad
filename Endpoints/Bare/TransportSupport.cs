using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>What a transport supports, with the settings of one endpoint.</summary>
/// <param name="Mode">Whether it has the mode.</param>
internal sealed record TransportSupport(Support Mode)
{
    /// <summary>Whether flushes of the log can be left out.</summary>
    public Support Flush { get; init; } = OnlyOnPostgreSql.Flushes;

    /// <summary>Whether several messages can be received at once.</summary>
    public Support Batches { get; init; } = OnlyOnPostgreSql.Batches;

    /// <summary>Whether a commit can also receive.</summary>
    public Support Ahead { get; init; } = OnlyOnPostgreSql.Ahead;

    /// <summary>Whether handlers can have further databases.</summary>
    public Support Participants { get; init; } = OnlyOnPostgreSql.Participants;

    /// <summary>The longest delay before a retry; <see langword="null"/>: any.</summary>
    public TimeSpan? LongestDelay { get; init; }

    /// <summary>Each transport calls it before it opens a connection.</summary>
    /// <exception cref="NotSupportedException">The endpoint has a setting that is not supported. The message says why.</exception>
    public void Require(BareEndpointBuilder endpoint)
    {
        Require(Mode, "run");
        if (endpoint.Flush != LogFlush.Every)
            Require(Flush, $"leave out flushes (FlushLog, '{endpoint.Flush}')");
        if (endpoint.ReceivesAhead)
            Require(Ahead, "receive with the commit before it (ReceiveAhead)");
        if (endpoint.BatchSize > 1)
            Require(Batches, "receive in batches (ReceiveInBatches)");
        if (endpoint.Participants.Count > 0)
            Require(Participants, "have participants (AddParticipant)");
        if (endpoint.HandledIdsAreKept is not null && endpoint.Mode != TransactionMode.Outbox)
            Require(Support.No($"only {TransactionMode.Outbox} does"), "keep ids for a time (KeepHandledIdsFor)");
        if (endpoint.RetryDelays.Count == 0)
            return;

        if (endpoint.Mode.Attempts == 1)
            Require(Support.No("it has none. Leave the delays out"), "delay retries (DelayRetries)");
        if (endpoint.RetryDelays.Max() > LongestDelay)
        {
            Require(
                Support.No($"a worker waits with the message, and at most {LongestDelay.Value.TotalSeconds} s. Set shorter delays"),
                $"delay a retry for {endpoint.RetryDelays.Max().TotalSeconds} s (DelayRetries)");
        }

        void Require(Support support, string what)
        {
            if (support.Because is { } reason)
                throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot {what} in {endpoint.Mode}: {reason}.");
        }
    }
}
