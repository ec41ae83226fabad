using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Documentation;

/// <summary>docs/claims.json is where a claim is written.</summary>
public sealed class ClaimsOfTheFrameworks
{
    private static readonly IReadOnlyList<Claim> Claims = Claim.Read(File.ReadAllText(Path.Combine(RepositoryFiles.Root, Claim.File)));

    [Test]
    public void Each_is_complete_and_has_a_source()
    {
        foreach (var claim in Claims)
        {
            Assert.That(new[] { claim.Version, claim.Words }, Has.All.Not.Empty, claim.ToString());
            Assert.That(Uri.TryCreate(claim.Link, UriKind.Absolute, out var link) && link.Scheme is "https", Is.True, claim.Link);
        }
    }

    [Test]
    public void Each_names_what_there_is()
    {
        foreach (var claim in Claims)
        {
            var (framework, transport, mode, fault) = claim.Tested;
            Assert.That(EndpointKinds.All, Has.Some.Matches<IEndpointKind>(kind => kind!.Framework == claim.Framework), claim.ToString());
            Assert.That(
                EndpointKinds.All, Has.Some.Matches<IEndpointKind>(kind => kind!.Framework == framework && kind.Transport == transport), claim.ToString());
            Assert.That(TransactionMode.All.Select(known => known.Name), Does.Contain(claim.Mode).And.Contain(mode));
            Assert.That(Fault.All.Select(known => known.Name).Append(StormFacts.Name), Does.Contain(fault));
        }
    }
}
