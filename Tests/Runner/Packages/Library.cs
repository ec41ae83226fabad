using System.Xml.Linq;

namespace Kit.Tests.Packages;

/// <summary>A project that says that it is packed.</summary>
/// <param name="Id">Of its package.</param>
/// <param name="Project">Its file.</param>
/// <param name="Group">The optional packages that it needs; <see langword="null"/>: none.</param>
public sealed record Library(string Id, string Project, string? Group)
{
    /// <summary>In the order of their ids.</summary>
    public static IReadOnlyList<Library> All { get; } =
    [
        .. from file in RepositoryFiles.Of("*.csproj")
           let project = XDocument.Load(file)
           where ValueIn(project, "IsPackable") == "true"
           let id = ValueIn(project, "PackageId")
           orderby id
           select new Library(id, file, ValueIn(project, "OptionalPackageGroups")),
    ];

    /// <summary>Whether the packages that it needs are here.</summary>
    public bool CanBePacked => Group is null || Endpoints.Cells.OptionalPackages.All.Any(package => package.Group == Group && package.Support.IsSupported);

    /// <summary>The name of its package's file.</summary>
    public string File => $"{Id}.{Version}.nupkg";

    /// <summary>Of all of them.</summary>
    public static string Version { get; } = ValueIn(XDocument.Load(Path.Combine(RepositoryFiles.Root, "Directory.Build.props")), "Version")!;

    private static string? ValueIn(XDocument project, string property) => project.Descendants(property).FirstOrDefault()?.Value;
}
