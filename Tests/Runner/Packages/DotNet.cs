using Kit.Runner.Servers;

namespace Kit.Tests.Packages;

/// <summary>The command line of the .NET SDK.</summary>
internal static class DotNet
{
    public static Task<ProgramResult> RunAsync(params string[] arguments) => RunInAsync(RepositoryFiles.Root, arguments);

    /// <summary>The same, anywhere else.</summary>
    public static Task<ProgramResult> RunInAsync(string folder, params string[] arguments) =>
        new ExternalProgram("dotnet", Folder: folder, Variables: Quiet).RunAsync(arguments, CancellationToken.None);

    // A build server that stays would hold the pipes, and files, of a test that has ended. What the test host was given is not meant for others.
    private static Dictionary<string, string?> Quiet { get; } = new()
    {
        ["MSBUILDDISABLENODEREUSE"] = "1",
        ["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1",
        ["UseSharedCompilation"] = "false",
    };
}
