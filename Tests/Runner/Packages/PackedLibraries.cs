using System.IO.Compression;
using System.Text;
using System.Xml.Linq;

namespace Kit.Tests.Packages;

/// <summary>What is in the packages that applications reference, as approved, and what they say of themselves.</summary>
[Parallelizable]
[Exhaustive]
public sealed class PackedLibraries
{
    private static IEnumerable<TestCaseData> Packed => Library.All.Where(library => library.CanBePacked).Select(Case);

    private static IEnumerable<TestCaseData> Refused => Library.All.Where(library => !library.CanBePacked).Select(Case);

    [TestCaseSource(nameof(Packed))]
    public async Task Hold_what_is_approved(Library library)
    {
        await using var package = await ZipFile.OpenReadAsync(Path.Combine(await PackedFolder.GetAsync(), library.File));
        var nuspec = await NuspecOfAsync(package);
        string Value(string name) => nuspec.Descendants().First(element => element.Name.LocalName == name).Value;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(Value("authors"), Is.EqualTo("The kit's contributors"));
            Assert.That(Value("license"), Is.EqualTo("MIT"));
            Assert.That(Value("readme"), Is.EqualTo("README.md"));
            Assert.That(Value("description"), Has.Length.GreaterThan(60).And.Not.Contain("Package Description"));
        }

        Approval.Verify(
            $"package-{library.Id}.txt",
            string.Concat(
                from line in nuspec.Descendants().Where(element => element.Name.LocalName == "dependency")
                    .Select(dependency => $"depends on {dependency.Attribute("id")!.Value} {dependency.Attribute("version")!.Value}")
                    .Concat(package.Entries.Select(entry => entry.FullName).Where(IsContent).Order(StringComparer.Ordinal))
                select $"{line}\n"));
    }

    [TestCaseSource(nameof(Packed))]
    public async Task Tell_nothing_of_the_machine_that_packed_them(Library library)
    {
        await using var package = await ZipFile.OpenReadAsync(Path.Combine(await PackedFolder.GetAsync(), library.File));
        string[] places = [RepositoryFiles.Root, Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget")];

        var assemblies = package.Entries.Where(entry => entry.Name.StartsWith("Kit.", StringComparison.Ordinal)).ToList();
        Assert.That(assemblies, Is.Not.Empty);
        foreach (var assembly in assemblies)
        {
            using var bytes = new MemoryStream();
            await using (var stream = await assembly.OpenAsync())
                await stream.CopyToAsync(bytes);
            // An attribute is in UTF-8, a constant in UTF-16, at any offset.
            foreach (var encoding in new[] { Encoding.UTF8, Encoding.Unicode })
                Assert.That(places.Where(place => bytes.ToArray().AsSpan().IndexOf(encoding.GetBytes(place)) >= 0), Is.Empty, assembly.FullName);
        }
    }

    [TestCaseSource(nameof(Packed))]
    public async Task Come_with_the_notices_of_what_they_contain_and_do_not_say_that_they_are_not_published(Library library)
    {
        await using var package = await ZipFile.OpenReadAsync(Path.Combine(await PackedFolder.GetAsync(), library.File));
        var named = (await TextOfAsync(package, "THIRD-PARTY-NOTICES.txt")).Split('\n').Select(line => line.Trim()).ToHashSet();
        var contained = package.Entries.Select(entry => entry.Name).Where(name => name.EndsWith(".dll", StringComparison.Ordinal))
            .Select(Path.GetFileNameWithoutExtension).OfType<string>();

        Assert.That(contained.Where(name => !name.StartsWith("Kit.", StringComparison.Ordinal) && !named.Contains(name)), Is.Empty);
        Assert.That(await TextOfAsync(package, "README.md"), Does.Not.Contain("not published"));
    }

    [TestCaseSource(nameof(Refused))]
    public async Task That_would_be_empty_are_refused(Library library)
    {
        using var folder = new TemporaryFolder();

        var refused = await DotNet.RunAsync("pack", library.Project, "-c", "Release", "--nologo", "-v", "q", "-o", folder.Path);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(refused.ExitCode, Is.Not.Zero);
            Assert.That(refused.Output, Does.Contain($"{library.Id} cannot be packed: it was built without {library.Group}"));
            Assert.That(Directory.GetFiles(folder.Path), Is.Empty);
        }
    }

    /// <returns>Empty if it is not there.</returns>
    private static async Task<string> TextOfAsync(ZipArchive package, string file)
    {
        if (package.GetEntry(file) is not { } entry)
            return "";
        using var reader = new StreamReader(await entry.OpenAsync());
        return await reader.ReadToEndAsync();
    }

    private static async Task<XDocument> NuspecOfAsync(ZipArchive package)
    {
        await using var stream = await package.Entries.Single(entry => entry.Name.EndsWith(".nuspec", StringComparison.Ordinal)).OpenAsync();
        return await XDocument.LoadAsync(stream, LoadOptions.None, CancellationToken.None);
    }

    // The rest is the container's own.
    private static bool IsContent(string path) =>
        !path.StartsWith("_rels/", StringComparison.Ordinal) && !path.StartsWith("package/", StringComparison.Ordinal) && path != "[Content_Types].xml";

    private static TestCaseData Case(Library library) => new TestCaseData(library).SetArgDisplayNames(library.Id);
}
