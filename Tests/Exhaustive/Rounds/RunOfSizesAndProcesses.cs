using System.Text.Json;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>Larger messages, and several processes that share a queue, next to the default.</summary>
[Parallelizable]
public sealed class RunOfSizesAndProcesses : MeasuredRun
{
    private const int Concurrency = 2;

    protected override IEnumerable<string> Cells =>
    [
        "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,shared", "--size", "id-alone,51200B", "--processes", "1,2",
    ];

    protected override int CellCount => 2 * 2 * 2;

    protected override int Messages => 1_000;

    [Test]
    public void Each_process_handles_a_part()
    {
        foreach (var round in Run.Rounds)
        {
            var isShared = round.Cell.On(Axis.Processes.Name) == "2-processes";
            using (Assert.EnterMultipleScope())
            {
                Assert.That(round.Concurrency, Is.EqualTo(isShared ? 2 * Concurrency : Concurrency), $"{round.Cell}");
                Assert.That(round.HandledByEach?.Count, Is.EqualTo(isShared ? 2 : null), $"{round.Cell}");
                Assert.That(round.HandledByEach ?? [Messages], Has.All.Positive, $"{round.Cell}");
                Assert.That(round.HandledByEach?.Sum() ?? Messages, Is.EqualTo(Messages), $"{round.Cell}");
                Assert.That(round.ServiceTime, isShared ? Is.Null : Is.Not.Null, $"{round.Cell}");
            }
        }
    }

    [Test]
    public async Task A_large_message_is_read_from_the_server()
    {
        // It is stored apart from the queue's row, in pieces of about 2,000 bytes, and each of them is read.
        var buffers = Run.Rounds.ToLookup(round => round.Cell.On(Axis.Size.Name) is null, round => round.Costs.Buffers!.Value);

        Assert.That(buffers[false].Min(), Is.GreaterThan(buffers[true].Max()!.Value));
        Assert.That(
            await File.ReadAllTextAsync(PathOf("run", "tables.md")),
            Does.Contain("| bare/postgresql/shared/ado/51200B |").And.Contain("| bare/postgresql/shared/ado/2-processes |"));
    }

    [Test]
    public void Sizes_are_those_of_their_names()
    {
        foreach (var size in MessageSize.All.Except([MessageSize.IdAlone]))
        {
            var body = JsonSerializer.SerializeToUtf8Bytes(size.NewMessage());
            Assert.That(body, Has.Length.InRange(int.Parse(size.Name[..^1]), int.Parse(size.Name[..^1]) + 100), size.Name);
        }

        var alone = MessageSize.IdAlone.NewMessage();
        Assert.That(JsonSerializer.Serialize(alone), Is.EqualTo($$"""{"MessageId":"{{alone.MessageId}}"}"""), "no word of a padding");
    }

    [TestCase("--size", "1MB", "51200B")]
    [TestCase("--processes", "3", "1, 2, 4, 8")]
    [TestCase("--processes", "0", "1, 2, 4, 8")]
    public async Task Others_are_refused_with_those_that_exist(string option, string value, string names)
    {
        var result = await RunnerProcess.RunAsync("run", option, value);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Output + result.Errors, Does.Contain(names));
    }
}
