using System.Text.Json;
using BenchmarkDotNet.Attributes;
using Kit.Handlers;

namespace Kit.Benchmarks.Micro;

/// <summary>What a message costs in the process before anything is sent: an ordered id for its row, an id for itself, and its body.</summary>
[MemoryDiagnoser]
public class IdsAndBodies
{
    private readonly BuildWidget message = new(Guid.CreateVersion7());
    private byte[] body = [];

    [GlobalSetup]
    public void Write() => body = WriteBody();

    [Benchmark(Description = "ordered id of a row")]
    public long NextId() => WidgetId.Next();

    [Benchmark(Description = "ordered id of a message (UUID version 7)")]
    public Guid OrderedId() => Guid.CreateVersion7();

    [Benchmark(Description = "random id (UUID version 4)")]
    public Guid RandomId() => Guid.NewGuid();

    [Benchmark(Description = "body written as JSON")]
    public byte[] WriteBody() => JsonSerializer.SerializeToUtf8Bytes(message);

    [Benchmark(Description = "body read from JSON")]
    public BuildWidget? ReadBody() => JsonSerializer.Deserialize<BuildWidget>(body);
}
