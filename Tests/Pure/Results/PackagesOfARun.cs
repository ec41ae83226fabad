using Kit.Runner.Stage;

namespace Kit.Tests.Results;

/// <summary>The versions of the packages, as a run records them.</summary>
public sealed class PackagesOfARun
{
    [Test]
    public void No_version_is_that_of_an_assembly_that_has_none() =>
        Assert.That(Provenance.Packages().Where(package => package.Value.StartsWith("0.", StringComparison.Ordinal)), Is.Empty);
}
