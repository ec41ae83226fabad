using System.Runtime.Versioning;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.CommandLine;

/// <summary>run.ps1 in a folder like a clone, started by pwsh. A shell script takes the place of dotnet: it builds nothing, and is the runner.</summary>
[Parallelizable]
[UnsupportedOSPlatform("windows")]
[Platform(Exclude = "Win", Reason = "The program in the place of the runner is a shell script.")]
public sealed class ScriptForPowerShell
{
    private const string DotNetAndRunner =
        """
        #!/bin/sh
        case $1 in
          build) printf '%s' "$SAYS"; exit "${BUILD:-0}" ;;
          *Kit.Runner.dll) name=runner; shift ;;
          *Kit.Prove.dll) name=prove; shift ;;
          *) exec "$DOTNET" "$@" ;;
        esac
        if [ "$1" = wait ]; then
          trap 'sleep 1; echo cleaned up; exit 130' INT
          echo started
          while :; do sleep 0.1; done
        fi
        printf '%s:' "$name"; printf ' <%s>' "$@"; echo
        exit "${CODE:-0}"
        """;

    private TemporaryFolder folder = null!;
    private string script = null!;

    [SetUp]
    public void PlantClone()
    {
        if (ExternalProgram.OnSearchPath("pwsh") is null)
            Assert.Ignore("There is no pwsh. Install it: dotnet tool install --global PowerShell");
        folder = new TemporaryFolder();
        // A blank in its path, as in many a user's.
        var clone = Path.Combine(folder.Path, "my clone");
        foreach (var built in new[] { "Runner", "Prove" })
        {
            var bin = Directory.CreateDirectory(Path.Combine(clone, built, "bin", "Release", "net10.0")).FullName;
            File.WriteAllText(Path.Combine(bin, $"Kit.{built}.dll"), "");
        }

        var program = Path.Combine(Directory.CreateDirectory(Path.Combine(folder.Path, "programs")).FullName, "dotnet");
        File.WriteAllText(program, DotNetAndRunner);
        File.SetUnixFileMode(program, (UnixFileMode)0b111_101_101);
        script = Path.Combine(clone, "run.ps1");
        File.Copy(Path.Combine(RepositoryFiles.Root, "run.ps1"), script);
    }

    [TearDown]
    public void RemoveClone() => folder?.Dispose();

    [TestCase(0, Category = ExhaustiveAttribute.Category)]
    [TestCase(3)]
    public async Task Words_and_the_exit_code_are_passed_on(int code)
    {
        var result = await RunAsync(new() { ["CODE"] = $"{code}" }, script, "run", "--out", "a b", "");

        Assert.That((result.ExitCode, result.Output.Trim(), result.Errors), Is.EqualTo((code, "runner: <run> <--out> <a b> <>", "")));
    }

    [Test, Exhaustive]
    public async Task Install_comes_first()
    {
        var result = await RunAsync([], script, "-Install", "run");

        Assert.That(result.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries), Is.EqualTo(["runner: <install>", "runner: <run>"]));
    }

    [Test]
    public async Task Prove_is_a_program_of_its_own()
    {
        var result = await RunAsync([], script, "-Install", "prove", "a b.proof.json");

        Assert.That(result.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries), Is.EqualTo(["prove: <install>", "prove: <a b.proof.json>"]));
    }

    [Test]
    public async Task The_help_of_the_script_names_both_programs()
    {
        var result = await RunAsync([], script, "--help");

        Assert.That(result.Output, Does.StartWith("runner: <--help>\n").And.Contain("./run.ps1 prove --help"));
    }

    [Test]
    public async Task The_word_of_the_other_script_is_named()
    {
        var result = await RunAsync([], script, "--install", "run");

        Assert.That((result.ExitCode, result.Output), Is.EqualTo((ExitCode.Usage, "")));
        Assert.That(result.Errors, Does.Contain("For PowerShell it is -Install"));
    }

    [Test]
    public async Task A_build_that_fails_is_shown_and_nothing_runs()
    {
        var result = await RunAsync(new() { ["BUILD"] = "1", ["SAYS"] = "CS0103" }, script, "run");

        Assert.That((result.ExitCode, result.Output, result.Errors.Trim()), Is.EqualTo((1, "", "CS0103")));
    }

    [Test, Exhaustive]
    public async Task What_the_build_had_to_do_without_is_shown()
    {
        var said = Directory.CreateDirectory(Path.Combine(Path.GetDirectoryName(script)!, "obj", "optional")).FullName;
        await File.WriteAllTextAsync(Path.Combine(said, "unknown"), "Nobody knows whether the package feed has NPoco: …\n");

        var result = await RunAsync([], script, "list");

        Assert.That((result.ExitCode, result.Errors.Trim()), Is.EqualTo((0, "Nobody knows whether the package feed has NPoco: …")));
    }

    [Test]
    public async Task In_PowerShell_a_list_stays_one_word_where_a_decimal_has_a_comma()
    {
        var result = await RunAsync(
            [],
            "-Command",
            $"[cultureinfo]::CurrentCulture = 'de-DE'; & '{script}' run --mode full-dtc,dtc-off --processes 1,2 --rate 1.5,2 --out 'a b' 5s");

        Assert.That(
            result.Output.Trim(),
            Is.EqualTo("runner: <run> <--mode> <full-dtc,dtc-off> <--processes> <1,2> <--rate> <1.5,2> <--out> <a b> <5s>"));
    }

    [Test, Exhaustive]
    public async Task It_says_that_it_needs_PowerShell_7()
    {
        var result = await RunAsync([], "-Command", $"(Get-Command '{script}').ScriptBlock.Ast.ScriptRequirements.RequiredPSVersion.Major");

        Assert.That(result.Output.Trim(), Is.EqualTo("7"));
    }

    [Exhaustive]
    [TestCase("| ForEach-Object { \"[$_]\" }")]
    [TestCase("> out.txt; \"[$(Get-Content out.txt)]\"")]
    public async Task In_PowerShell_its_lines_can_be_passed_on(string where)
    {
        var result = await RunAsync(new() { ["CODE"] = "5" }, "-Command", $"Set-Location '{folder.Path}'; & './my clone/run.ps1' list {where}; $LASTEXITCODE");

        Assert.That(result.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries), Is.EqualTo(["[runner: <list>]", "5"]));
    }

    [Exhaustive]
    [TestCase(0, "after\n")]
    [TestCase(5, "")]
    public async Task In_PowerShell_a_failure_is_one(int code, string after)
    {
        var result = await RunAsync(new() { ["CODE"] = $"{code}" }, "-Command", $"& '{script}' list && 'after'");

        Assert.That(result.Output, Is.EqualTo($"runner: <list>\n{after}"));
        Assert.That(result.ExitCode, Is.EqualTo(code == 0 ? 0 : 1));
    }

    [Test]
    [Platform("Linux", Reason = "Linux has setsid.")]
    public async Task Ctrl_C_lets_the_runner_clean_up_and_its_exit_code_is_the_scripts()
    {
        using var run = RunnerProcess.Start(Environment([]), "setsid", ["pwsh", "-NoProfile", "-File", script, "wait"]);
        await run.PrintedAsync("started");
        await run.SignalAsync("INT", toGroup: true);

        var result = await run.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(130));
        Assert.That(result.Output, Does.EndWith("cleaned up\n"));
    }

    private async Task<RunnerResult> RunAsync(Dictionary<string, string> environment, params string[] arguments)
    {
        using var run = RunnerProcess.Start(Environment(environment), "pwsh", ["-NoProfile", .. arguments]);
        return await run.EndAsync();
    }

    private Dictionary<string, string> Environment(Dictionary<string, string> more) => new(more)
    {
        ["PATH"] = $"{Path.Combine(folder.Path, "programs")}:{System.Environment.GetEnvironmentVariable("PATH")}",
        ["DOTNET"] = ExternalProgram.OnSearchPath("dotnet") ?? "dotnet",
        ["NO_COLOR"] = "1",
    };
}
