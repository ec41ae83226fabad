using Kit.Handlers;
using Kit.Modes;

namespace Kit.Tests.OptionalPackages;

public sealed class APackageIsOptional
{
    [TestCase(true)]
    [TestCase(false)]
    public void Found_it_says_the_folder_it_was_taken_from_and_whether_NuGet_had_it_from_a_folder(bool isFromFolder)
    {
        var package = OptionalPackage.Describe(
            new("NPoco", "NPoco", "6.2.0", choice: "", folder: "/packages/npoco/6.2.0", answer: "", isFromFolder));

        Assert.Multiple(() =>
        {
            Assert.That(package.Support, Is.EqualTo(Support.Yes));
            Assert.That(package.IsFromFolder, Is.EqualTo(isFromFolder));
            Assert.That(package.Origin, Is.EqualTo("/packages/npoco/6.2.0"));
            Assert.That(package.Version, Is.EqualTo("6.2.0"));
            Assert.That(package.Group, Is.EqualTo("NPoco"));
        });
    }

    [Test]
    public void Missing_it_names_the_series_wanted_and_passes_on_what_NuGet_said()
    {
        var package = OptionalPackage.Describe(
            new("NServiceBus", "NServiceBus", "10.2.8", choice: "auto", folder: "", answer: "Found 3 versions.", isFromFolder: false));

        Assert.Multiple(() =>
        {
            Assert.That(package.Support.Because, Is.EqualTo("the package feed has no NServiceBus 10.2.x"));
            Assert.That(package.Origin, Is.EqualTo("Found 3 versions."));
        });
    }

    [Test]
    public void Switched_off_it_says_so()
    {
        var package = OptionalPackage.Describe(
            new("NPoco", "NPoco", "6.2.0", choice: "false", folder: "", answer: "", isFromFolder: false));

        Assert.That(package.Support.Because, Is.EqualTo("the build left NPoco out (KitNPoco=false)"));
    }

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
