using System.CommandLine;

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
