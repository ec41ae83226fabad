namespace Kit.Tests;

[SetUpFixture]
public sealed class SharedServers : StopsSharedServers;
