using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

public sealed class WrongArgumentsOfAProof
{
    [TestCase("", "no command. Commands: init, check, crash, drain, install.")]
    [TestCase("chek", "unknown command 'chek'. Commands: init, check, crash, drain, install.")]
    [TestCase("crash", "Required argument 'file' missing for command: 'crash'.")]
    [TestCase("--budget 1s a.proof.json", "--budget: expected a time from 10s to 24h with its unit, such as 10s or 2min, found '1s'.")]
    [TestCase("a.proof.json --only orders", "--only: 'orders' is not a token. Expected name@point:way, as in orders@7:b; the ways are a, b, c, d, g.")]
    [TestCase("a.proof.json --budget 1s", "--budget: expected a time from 10s to 24h with its unit, such as 10s or 2min, found '1s'.")]
    [TestCase(
        "a.proof.json --only orders@7:f",
        "--only: in way f the server crashes, and 'prove' crashes no server; its ways are a, b, c, d, g.")]
    [TestCase("a.proof.json --points 3", "unknown option '--points'. Options: --start, --only, --budget, --junit, --out, ")]
    [TestCase("check", "Required argument 'file' missing for command: 'check'.")]
    [TestCase("check a.proof.json --budget 2min", "unknown option '--budget'. Options: --start, ")]
    [TestCase("drain", "Required argument 'file' missing for command: 'drain'.")]
    [TestCase("drain a.proof.json --messages 10", "--messages: expected a whole number from 100 to 1000000, found '10'.")]
    [TestCase("drain a.proof.json --rounds 0", "--rounds: expected a whole number from 1 to 100, found '0'.")]
    [TestCase("drain a.proof.json --budget 2min", "unknown option '--budget'. Options: --start, ")]
    [TestCase("init orders.proof.json --promise always", "--promise: unknown value 'always'. Values: exactly-once, at-least-once, at-most-once.")]
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

    /// <summary>A build server would show the results of the run before.</summary>
    [Test]
    public async Task Leave_no_earlier_results_for_a_build_server()
    {
        using var folder = new TemporaryFolder();
        var (file, junit) = (folder.Below("orders.proof.json"), folder.Below("proof.xml"));
        await File.WriteAllTextAsync(file, FolderOfAProof.Text);
        await File.WriteAllTextAsync(junit, "<testsuite />");

        var result = await RunnerInProcess.ProveAsync(file, "--out", folder.Path, "--junit", junit);

        Assert.That(result.Errors, Does.Contain(" has other files, and no proof."));
        Assert.That(junit, Does.Not.Exist);
    }

    [TestCase("none.proof.json")]
    [TestCase("crash none.proof.json")]
    [TestCase("check none.proof.json")]
    [TestCase("drain none.proof.json")]
    public async Task A_file_that_is_not_there_is_named(string arguments)
    {
        var result = await RunnerInProcess.ProveAsync(arguments.Split(' '));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.StartWith("error: none.proof.json: the proof file cannot be read: "));
    }
}
