using Kit.Tests.TwoPhase;

// Tests run in the test host. Started by itself, this is the endpoint that the crash tests kill.
return args is [CrashingEndpoint.Command]
    ? await CrashingEndpoint.RunAsync(Console.In, Console.Out)
    : 1;
