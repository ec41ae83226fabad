using System.CommandLine;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary>The commands of this program, in the order in which help shows them.</summary>
internal static class Verbs
{
    /// <summary>How this program is started: as a tool, or by the script of a clone, which says so.</summary>
    public static string TypedAfter => Environment.GetEnvironmentVariable("KIT_TYPED") is { Length: > 0 } typed ? typed : "kit-prove";

    private const string WithoutAVerb = CrashCommand.Verb;

    private static readonly string[] OfRoot = ["--help", "-h", "-?", "--version"];

    public static RootCommand Root() =>
        new("Proves what your own service promises, whatever its framework and language, on the kit's own servers. A file alone is crashed.")
        {
            new InitCommand(),
            new CheckCommand(),
            new CrashCommand(),
            new DrainCommand(),
            new LoadCommand(),
            new ReportCommand(),
            new DoctorCommand(),
            new InstallCommand(),
        };

    /// <summary>The arguments with their verb: a file alone, with or without options, is crashed.</summary>
    public static string[] Complete(string[] arguments) => arguments switch
    {
        [var first, ..] when OfRoot.Contains(first) => arguments,
        // A word that is no file is a misspelt verb.
        [['-', ..], ..] => [WithoutAVerb, .. arguments],
        [var first, ..] when first.IndexOfAny(['.', '/', '\\']) >= 0 || File.Exists(first) => [WithoutAVerb, .. arguments],
        _ => arguments,
    };
}
