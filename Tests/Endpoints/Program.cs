using Kit.Tests.Outbox;
using Kit.Tests.RabbitMq;
using Kit.Tests.Timeouts;
using Kit.Tests.TwoPhase;

// Tests run in the test host. Started by itself, this is one of the processes that the tests kill.
return args switch
{
    [CrashingEndpoint.Command] => await CrashingEndpoint.RunAsync(Console.In, Console.Out),
    [OverrunningHandler.Command] => await OverrunningHandler.RunAsync(Console.In, Console.Out),
    [PoisonedEndpoint.Command] => await PoisonedEndpoint.RunAsync(Console.In),
    [SendingEndpoint.Command] => await SendingEndpoint.RunAsync(Console.In),
    _ => 1,
};
