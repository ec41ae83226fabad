using Kit.Handlers;

namespace Kit.Tests.OptionalPackages;

public sealed class APackageIsOptional
{
    [Test]
    public void The_cells_know_whether_NPoco_is_here_and_its_access_library_agrees()
    {
        var package = Endpoints.Cells.OptionalPackages.All.Single(optional => optional.Name is "NPoco");
        var access = AccessLibrary.All.Single(library => library.Name is "npoco");

        Assert.That(access.Support, Is.EqualTo(package.Support));
    }

    [Test]
    public void An_access_library_that_is_missing_is_refused_with_the_reason()
    {
        var missing = AccessLibrary.All.FirstOrDefault(library => !library.Support.IsSupported);
        if (missing is null)
            Assert.Ignore("Every access library is here.");

        Assert.That(() => missing!.CreateInsert(), Throws.TypeOf<NotSupportedException>().With.Message.Contains(missing!.Support.Because));
    }
}
