using Kit.Tests.Faults;
using Kit.Tests.Servers;

// Tests run in the test host. Started by itself, this is one of the processes that the tests kill.
return args switch
{
    [CrashingOwner.Command] => await CrashingOwner.RunAsync(Console.In, Console.Out),
    [JournallingProcess.Command, var path] => JournallingProcess.Run(path, Console.In, Console.Out),
    _ => 1,
};
