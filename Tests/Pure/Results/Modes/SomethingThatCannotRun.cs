using Kit.Modes;

namespace Kit.Tests.Results.Modes;

public sealed class SomethingThatCannotRun
{
    [Test]
    public void Is_not_supported_and_says_whether_it_ever_could_be()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Support.No("there is no prepare"), Has.Property("IsSupported").False.And.Property("IsMissing").False);
            Assert.That(Support.Missing("there is no package"), Has.Property("IsSupported").False.And.Property("IsMissing").True);
            Assert.That(Support.Yes, Has.Property("IsSupported").True.And.Property("IsMissing").False);
        }
    }
}
