namespace Kit.Tests.NServiceBus;

/// <summary>Stands for the tests of the configurations where there are none.</summary>
public sealed class WithoutThePackages
{
    [Test]
    public void Configured_endpoints_are_not_tested() =>
        Assert.Ignore(Endpoints.Cells.OptionalPackages.All.First(package => package.Group is "NServiceBus").Support.Because!);
}
