using System.CommandLine;
using Kit.Runner.Faults;
using Kit.Runner.Loads;
using Kit.Runner.Rounds;
using Kit.Runner.Rounds.Comparing;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary>The commands of the runner, in the order in which help shows them.</summary>
internal static class AllCommands
{
    /// <summary>The scripts of a clone, which start the runner.</summary>
    public const string TypedAfter = @"./run.sh or .\run.ps1";

    public static RootCommand Under(string[] arguments) =>
        new("Compares transaction modes of message handlers: the speed and the guarantees of each, side by side.")
        {
            new RunCommand(arguments),
            new WorkerCommand(),
            new ListCommand(),
            new ChooseCommand(),
            new DoctorCommand(),
            new ReportCommand(),
            new CompareCommand(arguments),
            new FaultsCommand(arguments),
            new LoadCommand(arguments),
            new ExperimentCommand(),
            new ErrorsCommand(),
            new BranchesCommand(),
            new InstallCommand(("--install run", "the same, then a run with the defaults")),
            new PublishCommand(),
            new PagesCommand(),
        };
}
