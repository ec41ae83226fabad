using NUnit.Framework;

namespace Kit.Tests.TransportTests;

/// <summary>Stands for NServiceBus's transport tests, where the package feed does not have them.</summary>
public sealed class TestsAreAbsent
{
    [Test]
    public void Of_the_transport_in_two_phases() => Assert.Ignore(
        "The package feed has no NServiceBus.TransportTests.Sources, with which NServiceBus tests a transport.");
}
