using System.Reflection;
using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Stage;

/// <summary>The origin of a run's figures: everything that is needed to judge or repeat it.</summary>
internal static class Provenance
{
    /// <param name="someTiered">True if some handler processes run with tiered compilation.</param>
    public static HostFacts OfHost(bool someTiered = false)
    {
        var machine = MachineFacts.Read();
        return new HostFacts(
            machine.Cores, machine.CpuModel, machine.TotalMemoryBytes,
            machine.OperatingSystem, $"{machine.Runtime}, tiered compilation off{(someTiered ? " unless a condition says otherwise" : "")}");
    }

    public static CellName NameOf(Cell cell) => new(cell.Values);

    /// <summary>The cells that cannot run, and why.</summary>
    public static IEnumerable<CellLeftOut> LeftOut(IEnumerable<Cell> cells, Func<Cell, Support> supportOf) =>
        from cell in cells let because = supportOf(cell).Because where because is not null select new CellLeftOut(NameOf(cell), because);

    /// <summary>The values that names of cells leave out, by axis.</summary>
    /// <param name="concurrency">Messages that a cell handles at the same time if its name does not say it.</param>
    public static IReadOnlyDictionary<string, string> ImpliedAt(int concurrency) =>
        Axis.All.Where(axis => axis.Implied is not null).ToDictionary(
            axis => axis.Name,
            axis => axis == Axis.Handlers ? HandlerLimits.NameOf(concurrency) : axis.Implied!);

    /// <summary>A probe's findings, for the report.</summary>
    public static CellProbed OfProbe(Cell cell, ProbeResult probe) => new(
        NameOf(cell),
        probe.ScopeIsolation,
        probe.Isolation,
        probe.Order switch
        {
            null => "not seen",
            { IsRowVisibleInHandler: true } => "with the insert",
            _ => "when the handler has returned",
        },
        probe.Order switch
        {
            null => "not seen",
            { IsMessageLeftInHandler: false } => "before the handler",
            { IsMessageLeftAfterCommit: true } => "after the row's commit",
            { IsMessageLeftAfterCommit: false } => "with the row's commit",
            _ => "when the handler has returned",
        },
        probe.MostTogether,
        probe.BodyBytes);

    public static IReadOnlyDictionary<string, string> Packages()
    {
        var packages = new Dictionary<string, string>();
        foreach (var assembly in EndpointKinds.All.SelectMany(kind => kind.Packages).Append(typeof(Dapper.SqlMapper).Assembly))
            packages[assembly.GetName().Name!] = VersionOf(assembly);

        foreach (var package in OptionalPackages.All)
        {
            // The version of an assembly comes first.
            var version = packages.GetValueOrDefault(package.Name, package.Version);
            packages[package.Name] = package.Support.Because ?? (package.IsFromFolder ? $"{version} (from a folder, not from a package server)" : version);
        }

        return packages;
    }

    // Wolverine's assemblies have no version of their package.
    private static string VersionOf(Assembly assembly) =>
        assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+')[0] ?? assembly.GetName().Version!.ToString(3);
}
