using System.Diagnostics;
using Kit.Runner.Results.Accounts;

namespace Kit.Tests.Faults;

/// <summary>The journal of attempts, written by a process that is killed.</summary>
public sealed class AttemptsOfAKilledProcess
{
    private TemporaryFolder folder = null!;

    private string Journal => folder.Below("attempts");

    [SetUp]
    public void CreateFolder() => folder = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => folder.Dispose();

    [Test]
    public async Task Are_all_there_that_it_had_written_before_it_was_killed()
    {
        var written = 0;
        for (var kill = 0; kill < 3; kill++)
            written += await WriteUntilKilledAsync(atLeast: 200);

        var read = AttemptJournal.Read(Journal);
        await TestContext.Out.WriteLineAsync($"{written} lines said to be written before 3 kills, {read.Count} read");
        // A line may have been written and not yet told, one for each kill.
        Assert.That(read, Has.Count.InRange(written, written + 3));
        Assert.That(read.Select(line => line.AttemptId), Is.Unique);
    }

    private async Task<int> WriteUntilKilledAsync(int atLeast)
    {
        using var process = Process.Start(new ProcessStartInfo(
            "dotnet",
            ["exec", typeof(JournallingProcess).Assembly.Location, JournallingProcess.Command, Journal])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        using var patience = new CancellationTokenSource(Eventually.Limit);
        var told = 0;
        try
        {
            while (told < atLeast && await process.StandardOutput.ReadLineAsync(patience.Token) is not null)
                told++;
        }
        finally
        {
            process.Kill();
            await process.WaitForExitAsync();
        }

        while (await process.StandardOutput.ReadLineAsync(patience.Token) is not null)
            told++;
        Assert.That(told, Is.GreaterThanOrEqualTo(atLeast));
        return told;
    }
}
