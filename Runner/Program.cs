using System.CommandLine;
using System.CommandLine.Invocation;
using System.Text;
using Kit.Runner;
using Kit.Runner.CommandLine;
using Kit.Runner.Rounds;

if (args is [HandlerProcess.Command])
{
    // What libraries print must not come between the events.
    var events = Console.Out;
    Console.SetOut(Console.Error);
    return await new HandlerProgram(Console.In, events).RunAsync();
}

Console.OutputEncoding = Encoding.UTF8;
var verbose = new Option<bool>("--verbose") { Description = "Show where an error came from.", Recursive = true };
var root = new RootCommand("Compares how transactional message handlers can be: speed and guarantee of each mode, side by side.")
{
    new RunCommand(args),
    new ListCommand(),
    new DoctorCommand(),
    new ReportCommand(),
    new InstallCommand(),
    verbose,
};

HelpWithExamples.AddTo(root);

var parsed = root.Parse(args);
if (parsed.Action is ParseErrorAction)
{
    UsageError.Write(parsed, Console.Error);
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
