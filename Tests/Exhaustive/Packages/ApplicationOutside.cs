using Kit.Tests.Packages;
namespace Kit.Tests.Exhaustive.Packages;

/// <summary>The application of the tutorial, in a folder of its own that knows the packages alone: it builds, and handles a message.</summary>
[Parallelizable]
public sealed class ApplicationOutside
{
    [Test]
    [CancelAfter(300_000)]
    public async Task Handles_a_message()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var packages = await PackedFolder.GetAsync();
        using var folder = new TemporaryFolder();
        await File.WriteAllTextAsync(Path.Combine(folder.Path, "Program.cs"), Program());
        await File.WriteAllTextAsync(Path.Combine(folder.Path, "Outside.csproj"), ProjectOn(packages));

        var result = await DotNet.RunInAsync(folder.Path, "run", "--", databases.Queue, databases.Widgets);

        Assert.That(result.ExitCode, Is.Zero, result.Output);
        Assert.That(result.Output, Does.Contain("handled: a hundred widgets"));
    }

    private static string Program() => RepositoryFiles.Snippets("docs/tutorials/use-an-endpoint.md").Single(RepositoryFiles.IsApplication);

    // Packages of a version are unpacked once for a machine: these go to a folder of their own, or the next test would get them.
    private static string ProjectOn(string packages) =>
        $"""
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <OutputType>Exe</OutputType>
            <TargetFramework>net10.0</TargetFramework>
            <Nullable>enable</Nullable>
            <ImplicitUsings>enable</ImplicitUsings>
            <RestoreAdditionalProjectSources>{packages}</RestoreAdditionalProjectSources>
            <RestoreFallbackFolders>{GlobalPackages}</RestoreFallbackFolders>
            <RestorePackagesPath>unpacked</RestorePackagesPath>
          </PropertyGroup>
          <ItemGroup>
            <PackageReference Include="TransactionModes.Bare.PostgreSql" Version="{Library.Version}" />
            <PackageReference Include="Microsoft.Extensions.Hosting" Version="10.0.14" />
          </ItemGroup>
        </Project>
        """;

    private static string GlobalPackages => Environment.GetEnvironmentVariable("NUGET_PACKAGES")
        ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
}
