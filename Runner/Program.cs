using Kit.Runner.CommandLine;
using Kit.Runner.Stage;
using Kit.Runner.Terminal;

if (args is [HandlerProcess.Command])
{
    // Output of libraries must not get between the events.
    var events = Console.Out;
    Console.SetOut(Console.Error);
    return await new HandlerProgram(Console.In, events).RunAsync();
}

return await Invocation.RunAsync(AllCommands.Under(args), args, AllCommands.TypedAfter);
