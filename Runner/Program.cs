using System.CommandLine;
using Kit.Runner.CommandLine;
using Kit.Runner.Rounds;

if (args is [HandlerProcess.Command])
    return await new HandlerProgram(Console.In, Console.Out).RunAsync();

return await Invocation.RunAsync(
    new RootCommand("""
        Compares how transactional message handlers can be: speed and guarantee of each mode, side by side.

        Examples:
          run --quick      the four modes in under a minute
          run              the four modes, five rounds, 10,000 messages each
          doctor           what is here, what is missing, what to do about it
        """)
    {
        new RunCommand(args),
        new ListCommand(),
        new DoctorCommand(),
        new ReportCommand(),
        new InstallCommand(),
    },
    args);
