using System.CommandLine;
using Kit.Runner.CommandLine;
using Kit.Runner.Rounds;

if (args is [HandlerProcess.Command])
{
    // Output of libraries must not get between the events.
    var events = Console.Out;
    Console.SetOut(Console.Error);
    return await new HandlerProgram(Console.In, events).RunAsync();
}

return await Invocation.RunAsync(
    new RootCommand("Compares transaction modes of message handlers: the speed and the guarantees of each, side by side.")
    {
        new RunCommand(args),
        new WorkerCommand(),
        new ListCommand(),
        new ChooseCommand(),
        new DoctorCommand(),
        new ReportCommand(),
        new CompareCommand(args),
        new FaultsCommand(args),
        new ProveCommand(),
        new LoadCommand(args),
        new ExperimentCommand(),
        new ErrorsCommand(),
        new BranchesCommand(),
        new InstallCommand(),
        new PagesCommand(),
    },
    args);
