using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

public sealed class WrongArgumentsOfAProof
{
    [TestCase("", "no command. Commands: crash, install.")]
    [TestCase("chek", "unknown command 'chek'. Commands: crash, install.")]
    [TestCase("crash", "Required argument 'file' missing for command: 'crash'.")]
    [TestCase("--budget 1s a.proof.json", "--budget: expected a time from 10s to 24h with its unit, such as 10s or 2min, found '1s'.")]
    [TestCase("a.proof.json --only orders", "--only: 'orders' is not a token. Expected name@point:way, as in orders@7:b; the ways are a, b, c, d, g.")]
    [TestCase("a.proof.json --budget 1s", "--budget: expected a time from 10s to 24h with its unit, such as 10s or 2min, found '1s'.")]
    [TestCase(
        "a.proof.json --only orders@7:f",
        "--only: in way f the server crashes, and 'prove' crashes no server; its ways are a, b, c, d, g.")]
    [TestCase("a.proof.json --points 3", "unknown option '--points'. Options: --start, --only, --budget, --junit, --out, ")]
    public async Task Are_named_with_what_would_be_right(string arguments, string error)
    {
        var result = await RunnerInProcess.ProveAsync(arguments.Split(' ', StringSplitOptions.RemoveEmptyEntries));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
            Assert.That(result.Errors, Does.StartWith($"error: {error}").And.Contain("--help"));
            Assert.That(result.Output, Is.Empty);
        }
    }

    [TestCase("none.proof.json")]
    [TestCase("crash none.proof.json")]
    public async Task A_file_alone_is_crashed(string arguments)
    {
        var result = await RunnerInProcess.ProveAsync(arguments.Split(' '));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.StartWith("error: none.proof.json: the proof file cannot be read: "));
    }
}
