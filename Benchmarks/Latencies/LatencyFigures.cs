namespace Kit.Benchmarks.Latencies;

/// <summary>The latency of one load, in ms.</summary>
/// <param name="P50">Its median.</param>
/// <param name="P99">Its 99th percentile.</param>
/// <param name="Late">The median of how late a send began. It is in the latency from the moment at which the message was to be sent.</param>
/// <param name="Messages">Over how many messages.</param>
internal sealed record LatencyFigures(double P50, double P99, double Late, int Messages);

/// <summary>The latencies of one load that pgbench sent, until the row's commit.</summary>
/// <param name="FromDue">From the moment at which pgbench was to send the message.</param>
/// <param name="FromCommit">From the message's commit.</param>
internal sealed record PgbenchLatencies(LatencyFigures FromDue, LatencyFigures FromCommit);
