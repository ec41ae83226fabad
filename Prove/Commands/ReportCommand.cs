using System.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary><c>report</c>: writes the report of a stored proof, drain or load again.</summary>
internal sealed class ReportCommand : KitCommand
{
    private readonly Argument<string> folder = new("folder") { Description = "The folder of a proof, a drain or a load." };

    public ReportCommand()
        : base(
            "report",
            "Writes the report of a stored proof, drain or load again, from its document. Exit code 2 if the folder has none.",
            ("report results/my-proof", "the report of a proof"))
    {
        Arguments.Add(folder);
        SetAction(parsed => Report(parsed.GetRequiredValue(folder)));
    }

    private static int Report(string path)
    {
        var report = StoredReport.In(path)
            ?? throw new KitException($"{path} has no proof, drain or load.", $"Name the folder that '{Verbs.TypedAfter}' has written.") { IsUsage = true };
        report.Write(Console.Out, Width);
        return ExitCode.Success;
    }
}
