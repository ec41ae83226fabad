using System.Runtime.Versioning;
using Kit.Runner.Results;

namespace Kit.Tests.CommandLine;

/// <summary>What the user's shell and folders are like when a command is typed.</summary>
[Parallelizable]
[UnsupportedOSPlatform("windows")]
[Platform(Exclude = "Win", Reason = "Windows has neither locales of that kind, nor a umask, nor run.sh.")]
public sealed class ShellOfTheUser
{
    private TemporaryFolder folder = null!;

    [SetUp]
    public void SetUp() => folder = new TemporaryFolder();

    [TearDown]
    public void TearDown() => folder.Dispose();

    // With SqlClient in the build the runner has the system's cultures.
    [TestCase("fr_FR@euro")]
    [TestCase("xx_YY.UTF-8", Category = ExhaustiveAttribute.Category)]
    [TestCase("C", Category = ExhaustiveAttribute.Category)]
    public async Task Any_locale_will_do(string locale)
    {
        using var runner = RunnerProcess.Start(
            new Dictionary<string, string> { ["LANG"] = locale, ["LC_ALL"] = locale }, RunnerProcess.ProgramPath, ["list", "--modes"]);
        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(result.Output, Does.StartWith("full-dtc"));
    }

    /// <summary>Under 027 the run in memory of <see cref="Servers.PlaceOfTheServers"/> starts.</summary>
    [Exhaustive]
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task Servers_start_under_the_strictest_umask(string transport)
    {
        if (TestTransport.MissingServer(transport) is { } missing)
            Assert.Ignore(missing);
        using var runner = RunnerProcess.Start(
            [], "sh",
            [
                "-c", "umask 077; exec \"$0\" \"$@\"", RunnerProcess.ProgramPath,
                "run", "--framework", "bare", "--transport", transport, "--mode", "scope-off", "--messages", "20", "--warmup", "5", "--seed-rows", "10",
                "--rounds", "1", "--no-repeat", "--no-durability", "--out", Path.Combine(folder.Path, "run"),
            ]);
        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
    }

    [Test]
    public async Task The_script_finds_its_clone_through_links()
    {
        var script = PlantClone(isBuilt: true);
        var links = Directory.CreateDirectory(Path.Combine(folder.Path, "links")).FullName;
        File.CreateSymbolicLink(Path.Combine(links, "first"), Path.GetRelativePath(links, script));
        File.CreateSymbolicLink(Path.Combine(links, "kit"), "first");

        var result = await RunAsync("sh", Path.Combine(links, "kit"), "list", "a b");

        Assert.That((result.ExitCode, result.Output.Trim(), result.Errors), Is.EqualTo((ExitCode.Success, "runner: list|a b|", "")));
    }

    [Test]
    public async Task Prove_is_a_program_of_its_own()
    {
        var script = PlantClone(isBuilt: true);

        var prove = await RunAsync("sh", script, "prove", "a b.proof.json", "--budget", "2min");
        var installed = await RunAsync("sh", script, "--install", "prove", "check");

        Assert.That((prove.ExitCode, prove.Output.Trim(), prove.Errors), Is.EqualTo((ExitCode.Success, "prove: a b.proof.json|--budget|2min|", "")));
        Assert.That(installed.Output, Is.EqualTo("prove: install|\nprove: check|\n"));
    }

    [Test]
    public async Task The_help_of_the_script_names_both_programs()
    {
        var result = await RunAsync("sh", PlantClone(isBuilt: true), "--help");

        Assert.That(result.Output, Does.StartWith("runner: --help|\n").And.Contain("./run.sh prove --help"));
    }

    [Test]
    public async Task In_a_clone_that_may_not_be_written_the_script_runs_what_is_built()
    {
        var script = PlantClone(isBuilt: true);

        var result = await RunAsOtherAsync(script, "list");

        Assert.That((result.ExitCode, result.Output.Trim()), Is.EqualTo((ExitCode.Success, "runner: list|")));
        Assert.That(result.Errors, Does.Contain("may not write").And.Contain("as old as its last build"));
    }

    [Test]
    public async Task In_a_clone_that_may_not_be_written_the_script_says_what_to_do_if_nothing_is_built()
    {
        var script = PlantClone(isBuilt: false);

        var result = await RunAsOtherAsync(script, "list");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(result.Errors, Does.Contain("Not built: the runner.").And.Contain("cp -R"));
    }

    [Test]
    public async Task The_script_builds_with_the_sdk_of_its_clone()
    {
        var script = PlantClone(isBuilt: true);
        File.WriteAllText(Path.Combine(folder.Path, "clone", "fails"), "");

        var result = await RunAsync("sh", script, "list");

        Assert.That(
            (result.ExitCode, result.Errors), Is.EqualTo((3, $"built in {Path.Combine(folder.Path, "clone")}\n")), "its global.json is that of the folder");
    }

    /// <summary>Its programs write their name and arguments. The build does nothing, or fails in a folder that says so.</summary>
    private const string Dotnet =
        """
        case $1 in
          build) [ ! -e fails ] || { echo "built in $PWD"; exit 3; } ;;
          *) printf '%s: ' "$(basename "$1" .dll | sed 's/Kit.//' | tr RP rp)"; shift; printf '%s|' "$@"; echo ;;
        esac
        """;

    /// <summary>The script in a folder like a clone.</summary>
    private string PlantClone(bool isBuilt)
    {
        var clone = Path.Combine(folder.Path, "clone");
        foreach (var program in new[] { "Runner", "Prove" })
        {
            var bin = Directory.CreateDirectory(Path.Combine(clone, program, "bin", "Release", "net10.0")).FullName;
            if (isBuilt)
                File.WriteAllText(Path.Combine(bin, $"Kit.{program}.dll"), "");
        }

        Plant(Directory.CreateDirectory(Path.Combine(folder.Path, "programs")).FullName, "dotnet", Dotnet);
        var script = Path.Combine(clone, "run.sh");
        File.Copy(Path.Combine(RepositoryFiles.Root, "run.sh"), script);
        return script;
    }

    private static void Plant(string folder, string name, string script)
    {
        var path = Path.Combine(folder, name);
        File.WriteAllText(path, $"#!/bin/sh\n{script}\n");
        File.SetUnixFileMode(path, (UnixFileMode)0b111_101_101);
    }

    private async Task<RunnerResult> RunAsync(string program, params string[] arguments)
    {
        var path = $"{Path.Combine(folder.Path, "programs")}:{Environment.GetEnvironmentVariable("PATH")}";
        using var run = RunnerProcess.Start(new Dictionary<string, string> { ["PATH"] = path }, program, arguments);
        return await run.EndAsync();
    }

    /// <summary>Runs the script as a user who may not write to its clone: another user than root, who may write everywhere.</summary>
    private async Task<RunnerResult> RunAsOtherAsync(string script, params string[] arguments)
    {
        if (Environment.IsPrivilegedProcess)
        {
            var all = (UnixFileMode)0b111_101_101;
            File.SetUnixFileMode(folder.Path, all);
            return await RunAsync("runuser", ["-u", "nobody", "--", "sh", script, .. arguments]);
        }

        var clone = Path.GetDirectoryName(script)!;
        var mode = File.GetUnixFileMode(clone);
        File.SetUnixFileMode(clone, (UnixFileMode)0b101_101_101);
        try
        {
            return await RunAsync("sh", [script, .. arguments]);
        }
        finally
        {
            File.SetUnixFileMode(clone, mode);
        }
    }
}
