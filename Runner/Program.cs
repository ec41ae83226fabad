using System.CommandLine;
using System.CommandLine.Invocation;
using System.Text;
using Kit.Runner;
using Kit.Runner.CommandLine;
using Kit.Runner.Rounds;

if (args is [HandlerProcess.Command])
    return await new HandlerProgram(Console.In, Console.Out).RunAsync();

Console.OutputEncoding = Encoding.UTF8;
var verbose = new Option<bool>("--verbose") { Description = "Show where an error came from.", Recursive = true };
var root = new RootCommand("""
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
    verbose,
};

var parsed = root.Parse(args);
if (parsed.Action is ParseErrorAction)
{
    foreach (var error in parsed.Errors)
        await Console.Error.WriteLineAsync($"error: {error.Message}");
    await Console.Error.WriteLineAsync($"See: {parsed.CommandResult.Command.Name} --help");
    return ExitCode.Usage;
}

try
{
    return await parsed.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = TimeSpan.FromMinutes(1) });
}
catch (Exception failure)
{
    await Console.Error.WriteLineAsync(parsed.GetValue(verbose) ? $"error: {failure}" : $"error: {failure.Message}");
    if (failure is KitException { Remedy: var remedy })
        await Console.Error.WriteLineAsync($"  → {remedy}");
    return ExitCode.Failure;
}
