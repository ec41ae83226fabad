using Kit.Modes;

namespace Kit.Handlers;

/// <summary>A data access library that can write the widget: its name, whether it is here, and its insert.</summary>
public sealed record AccessLibrary(string Name, Support Support, Func<IWidgetInsert> CreateInsert)
{
    /// <summary>Hand-written ADO.NET first: the floor.</summary>
    public static IReadOnlyList<AccessLibrary> All { get; } =
    [
        new("ado", Support.Yes, () => new AdoInsert()),
        new("dapper", Support.Yes, () => new DapperInsert()),
    ];
}
