using Kit.Handlers;
using Kit.Modes;

namespace Kit.Tests.OptionalPackages;

public sealed class APackageIsOptional
{
    [Test]
    public void Found_it_says_the_folder_it_was_taken_from()
    {
        var package = OptionalPackage.Parse("NPoco", "NPoco|6.2.0|auto|/packages/npoco/6.2.0||");

        Assert.Multiple(() =>
        {
            Assert.That(package.Support, Is.EqualTo(Support.Yes));
            Assert.That(package.IsFromFolder, Is.False);
            Assert.That(package.Origin, Is.EqualTo("/packages/npoco/6.2.0"));
            Assert.That(package.Version, Is.EqualTo("6.2.0"));
            Assert.That(package.Group, Is.EqualTo("NPoco"));
        });
    }

    [Test]
    public void Missing_it_names_the_series_wanted_and_passes_on_what_NuGet_said()
    {
        var package = OptionalPackage.Parse("NServiceBus", "NServiceBus|10.2.8|auto|||Found 3 versions in a|b.");

        Assert.Multiple(() =>
        {
            Assert.That(package.Support.Because, Is.EqualTo("the package feed has no NServiceBus 10.2.x"));
            Assert.That(package.Origin, Is.EqualTo("Found 3 versions in a|b."));
        });
    }

    [Test]
    public void Taken_from_a_folder_it_says_so() =>
        Assert.That(OptionalPackage.Parse("NPoco", "NPoco|6.2.0|auto|/packages/npoco/6.2.0|True|").IsFromFolder);

    [Test]
    public void Switched_off_it_says_so_even_where_the_feed_has_it()
    {
        var package = OptionalPackage.Parse("NPoco", "NPoco|6.2.0|false|/packages/npoco/6.2.0||");

        Assert.That(package.Support.Because, Is.EqualTo("the build left NPoco out (KitNPoco=false)"));
    }

    [Test]
    public void Facts_that_the_build_cannot_have_written_are_refused() =>
        Assert.That(() => OptionalPackage.Parse("NPoco", "NPoco|6.2.0|auto|"), Throws.TypeOf<FormatException>().With.Message.Contains("found 'NPoco|6.2.0|auto|'"));

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
