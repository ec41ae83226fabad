using Kit.Handlers;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>What the assemblies of the cells were built with and without.</summary>
public static class OptionalPackages
{
    public static IReadOnlyList<OptionalPackage> All { get; } =
    [
        .. OptionalPackage.Of(typeof(AccessLibrary).Assembly),
        .. OptionalPackage.Of(typeof(OptionalPackages).Assembly),
    ];
}
