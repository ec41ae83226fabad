using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.CommandLine;

/// <summary><c>install</c>: installs the servers that the machine lacks.</summary>
internal sealed class InstallCommand : KitCommand
{
    public InstallCommand()
        : base(
            "install",
            "Installs missing servers with the platform's package manager. Prints each command before running it.",
            ("install", "installs what is missing"),
            ("--install run", "the same, then a run with the defaults")) =>
        SetAction(async (_, cancellationToken) =>
        {
            await new PlatformPackages().InstallMissingAsync(Console.Out, cancellationToken);
            return ExitCode.Success;
        });
}
