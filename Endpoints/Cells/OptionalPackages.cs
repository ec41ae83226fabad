using Kit.Handlers;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The optional packages of the cells' assemblies, present or missing in this build.</summary>
public static class OptionalPackages
{
    public static IReadOnlyList<OptionalPackage> All { get; } =
    [
        .. OptionalPackage.Of(typeof(AccessLibrary).Assembly),
        .. OptionalPackage.Of(typeof(OptionalPackages).Assembly),
    ];
}
