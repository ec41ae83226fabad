using System.CommandLine;
using Kit.Runner.Faults;
using Kit.Runner.Loads;
using Kit.Runner.Rounds;
using Kit.Runner.Rounds.Comparing;
using Kit.Runner.Rounds.Joining;

namespace Kit.Runner.CommandLine;

internal static class AllCommands
{
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
            new ProveCommand(),
            new LoadCommand(arguments),
            new ExperimentCommand(),
            new ErrorsCommand(),
            new BranchesCommand(),
            new InstallCommand(),
            new PagesCommand(),
        };
}
