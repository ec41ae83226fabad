using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Terminal;

/// <summary><c>install</c>: installs the servers that the machine lacks.</summary>
internal sealed class InstallCommand : KitCommand
{
    /// <param name="more">What can be typed in the same program with it.</param>
    public InstallCommand(params (string Typed, string Purpose)[] more)
        : base(
            "install",
            "Installs missing servers with the platform's package manager. Prints each command before running it.",
            [("install", "installs what is missing"), .. more]) =>
        SetAction(async (_, cancellationToken) =>
        {
            await new PlatformPackages().InstallMissingAsync(Console.Out, cancellationToken);
            return ExitCode.Success;
        });
}
