using Kit.Tests.Packages;

namespace Kit.Tests.Exhaustive;

[SetUpFixture]
public sealed class SharedServers : StopsSharedServers
{
    [OneTimeTearDown]
    public void RemovePackages() => PackedFolder.Remove();
}
