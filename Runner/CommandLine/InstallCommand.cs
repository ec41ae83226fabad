using System.CommandLine;
using Kit.Runner.Servers;

namespace Kit.Runner.CommandLine;

/// <summary><c>install</c>: installs the servers that the machine lacks.</summary>
internal sealed class InstallCommand : Command
{
    public InstallCommand()
        : base("install", """
            Installs the servers that are missing through the platform's package manager, and says each command before it runs.
            'run.sh --install …' does this first and then the rest of its command line.
            """) =>
        SetAction(async (_, cancellationToken) =>
        {
            await new PlatformPackages().InstallMissingAsync(Console.Out, cancellationToken);
            return ExitCode.Success;
        });
}
