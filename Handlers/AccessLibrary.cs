using Kit.Modes;

namespace Kit.Handlers;

/// <summary>A data access library that can write the widget: its name, whether it is available, and its insert.</summary>
public sealed record AccessLibrary(string Name, Support Support, Func<IWidgetInsert> CreateInsert)
{
    /// <summary>Hand-written ADO.NET: the default, and the floor that the others are compared with.</summary>
    public const string Baseline = "ado";

    /// <summary>All libraries, the baseline first.</summary>
    public static IReadOnlyList<AccessLibrary> All { get; } =
    [
        new(Baseline, Support.Yes, () => new AdoInsert()),
        new("dapper", Support.Yes, () => new DapperInsert()),
        new("ef", Support.Yes, () => new EfInsert()) { NeedsPostgreSql = true },
#if KIT_NPOCO
        new("npoco", Support.Yes, () => new NPocoInsert()),
#else
        Missing("npoco", "NPoco"),
#endif
    ];

    /// <summary>Whether it is set up for PostgreSQL only.</summary>
    public bool NeedsPostgreSql { get; init; }

#if !KIT_NPOCO
    private static AccessLibrary Missing(string name, string package)
    {
        var support = OptionalPackage.Of(typeof(AccessLibrary).Assembly).Single(optional => optional.Name.Equals(package, StringComparison.Ordinal)).Support;
        return new(name, support, () => throw new NotSupportedException($"Access library {name}: {support.Because}."));
    }
#endif
}
