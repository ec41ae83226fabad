namespace Kit.Benchmarks.Latencies;

/// <summary>The latency of one load, in ms.</summary>
/// <param name="P50">Its median.</param>
/// <param name="P99">Its 99th percentile.</param>
/// <param name="Messages">Over how many messages.</param>
internal sealed record LatencyFigures(double P50, double P99, int Messages);
