using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.Rounds;

namespace Kit.Tests.CommandLine;

[Parallelizable]
public sealed class FolderForResults : OnANamedServer
{
    [Test]
    public async Task Below_a_file_there_can_be_none()
    {
        var file = Path.Combine(Parent.Path, "file");
        await File.WriteAllTextAsync(file, "kept");

        await FailsBeforeAnyWorkAsync(Path.Combine(file, "run"));

        Assert.That(await File.ReadAllTextAsync(file), Is.EqualTo("kept"));
    }

    [Test]
    public async Task Where_nobody_may_write_there_can_be_none()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("A folder that not even root can write to is a Linux one.");

        await FailsBeforeAnyWorkAsync("/proc/run");
    }

    [Test]
    [Exhaustive]
    public async Task On_a_full_disk_the_rounds_that_were_saved_stay_readable()
    {
        if (!OperatingSystem.IsLinux() || !Environment.IsPrivilegedProcess)
            Assert.Ignore("Only root can mount a small disk, and only on Linux.");
        var disk = Directory.CreateDirectory(Path.Combine(Parent.Path, "disk")).FullName;
        var mount = await new ExternalProgram("mount").RunAsync(["-t", "tmpfs", "-o", "size=20k", "tmpfs", disk], CancellationToken.None);
        if (!mount.Succeeded)
            Assert.Ignore($"A small disk cannot be mounted here: {mount.Output}");
        try
        {
            // Two rounds fit: the moments of a round take some 5 KiB.
            var own = new ServersOfARunner(Parent);
            using var runner = RunnerProcess.Start(
                own.Environment,
                RunnerProcess.ProgramPath,
                [
                    "run", "--framework", "bare", "--transport", "postgresql", "--mode", "transactions-off",
                    "--messages", "3500", "--rounds", "4", "--warmup", "0",
                    "--seed-rows", "0", "--no-repeat", "--out", Path.Combine(disk, "run"),
                ]);
            var result = await runner.EndAsync();
            var servers = own.Folders;
            await new ExternalProgram("mount").RunAsync(["-o", "remount,size=10m", disk], CancellationToken.None);
            var report = await RunnerProcess.RunAsync("report", Path.Combine(disk, "run"));

            using (Assert.EnterMultipleScope())
            {
                Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
                Assert.That(result.Errors, Does.StartWith($"error: Cannot write {disk}").And.Contain("No space left on device").And.Contain("\n  → "));
                Assert.That(servers, Is.Empty);
                Assert.That(report.ExitCode, Is.EqualTo(ExitCode.Success), report.Errors);
                Assert.That(
                    RunFolder.Open(Path.Combine(disk, "run")).Load().Rounds.Select(round => round.OffsetsMilliseconds.Count),
                    Is.Not.Empty.And.All.EqualTo(3500));
            }
        }
        finally
        {
            await new ExternalProgram("umount").RunAsync([disk], CancellationToken.None);
        }
    }

    private async Task FailsBeforeAnyWorkAsync(string folder)
    {
        var result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--messages", "1", "--postgresql", Server.ConnectionString, "--out", folder);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(result.Errors, Does.StartWith($"error: Cannot write {folder}").And.Contain("--out"));
            Assert.That(result.Output, Does.Not.Contain("Seeded"));
        }
    }
}
