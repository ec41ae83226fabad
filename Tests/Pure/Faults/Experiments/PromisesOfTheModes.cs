using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Faults.Experiments;

public sealed class PromisesOfTheModes
{
    /// <summary>The whole table, to be read: what is written there is what every cell is held to.</summary>
    [Test]
    public async Task Are_as_approved()
    {
        var result = await RunnerInProcess.RunAsync("list", "--promises");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Errors);
        Approval.Verify("promises.txt", result.Output);
    }
}
