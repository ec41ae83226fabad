using System.Reflection;
using System.Reflection.Emit;
using Kit.Modes;

namespace Kit.Tests.Results.Modes;

public sealed class APackageThatABuildAskedFor
{
    private const string Folder = "/packages/npoco/6.2.0";

    [TestCase(true)]
    [TestCase(false)]
    public void Found_it_says_the_folder_it_was_taken_from_and_whether_NuGet_had_it_from_a_folder(bool isFromFolder) => Assert.That(
        OptionalPackage.Describe(new("NPoco", "Access", "6.2.0", choice: "", folder: Folder, answer: "", isFromFolder, isUnknown: false)),
        Is.EqualTo(new OptionalPackage("NPoco", "Access", "6.2.0", Support.Yes, isFromFolder, Folder)));

    [TestCase("6.2.0", "6.2.x")]
    [TestCase("10.2.8", "10.2.x")]
    [TestCase("8", "8")]
    public void Missing_it_names_the_series_wanted_and_passes_on_what_NuGet_said(string version, string series)
    {
        var package = OptionalPackage.Describe(
            new("NPoco", "Access", version, choice: "auto", folder: "", answer: "Found 3 versions.", isFromFolder: false, isUnknown: false));

        Assert.That(package.Support, Is.EqualTo(new Support($"the package feed has no NPoco {series}", IsMissing: true)));
        Assert.That(package.Origin, Is.EqualTo("Found 3 versions."));
    }

    [Test]
    public void Without_an_answer_it_does_not_say_that_the_feed_has_none() => Assert.That(
        OptionalPackage.Describe(
            new("NPoco", "Access", "6.2.0", choice: "auto", folder: "", answer: "it did not answer", isFromFolder: false, isUnknown: true)).Support,
        Is.EqualTo(new Support("the package feed gave no answer about NPoco 6.2.x", IsMissing: true)));

    [TestCase("false")]
    [TestCase("False")]
    public void Switched_off_it_says_by_which_switch(string choice) => Assert.That(
        OptionalPackage.Describe(new("NPoco", "Access", "6.2.0", choice, folder: "", answer: "", isFromFolder: false, isUnknown: false)).Support,
        Is.EqualTo(new Support("the build left NPoco out (KitAccess=false)", IsMissing: true)));

    [Test]
    public void Written_into_an_assembly_it_is_read_from_there()
    {
        var written = typeof(OptionalPackageAttribute).GetConstructors().Single();
        var assembly = AssemblyBuilder.DefineDynamicAssembly(
            new AssemblyName("Built"),
            AssemblyBuilderAccess.Run,
            [
                new CustomAttributeBuilder(written, ["NPoco", "Access", "6.2.0", "auto", Folder, "", true, false]),
                new CustomAttributeBuilder(written, ["Other", "Others", "1.0.0", "auto", "", "no versions", false, false]),
            ]);

        Assert.That(OptionalPackage.Of(assembly), Is.EquivalentTo(new[]
        {
            new OptionalPackage("NPoco", "Access", "6.2.0", Support.Yes, IsFromFolder: true, Folder),
            new OptionalPackage(
                "Other", "Others", "1.0.0", Support.Missing("the package feed has no Other 1.0.x"), IsFromFolder: false, "no versions"),
        }));
    }
}
