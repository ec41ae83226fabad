using System.Diagnostics;
using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

[Parallelizable]
public sealed class ChildProcesses
{
    [Test]
    public async Task One_that_ended_with_a_line_unread_is_ended_without_an_error()
    {
        if (ExternalProgram.OnSearchPath("true") is not { } program)
        {
            Assert.Ignore("There is no program 'true' here.");
            return;
        }

        using var ended = Process.Start(new ProcessStartInfo(program) { UseShellExecute = false, RedirectStandardInput = true })!;
        await ended.WaitForExitAsync();
        await Assert.ThatAsync(() => ended.StandardInput.WriteLineAsync("start"), Throws.InstanceOf<IOException>());

        await ChildProcess.EndAsync(ended);

        Assert.That(ended.ExitCode, Is.Zero);
    }
}
