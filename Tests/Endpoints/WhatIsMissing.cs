using Kit.Endpoints.Cells;
using Kit.Handlers;

namespace Kit.Tests;

/// <summary>
/// What this build or machine lacks: one ignored test for each thing, with the reason. The cases that need it exist where it is there, so a
/// stranger reads a few lines and not hundreds.
/// </summary>
public sealed class WhatIsMissing
{
    private static IEnumerable<TestCaseData> Missing =>
        Kinds.Concat(AccessLibraries).Concat(Servers).Select(missing => new TestCaseData(missing.Because).SetArgDisplayNames(missing.What));

    /// <summary>A kind can lack more than one thing: a package for all of its modes, or a system for one of them.</summary>
    private static IEnumerable<(string What, string Because)> Kinds =>
        from cell in Cell.All
        where cell.Access == AccessLibrary.All[0] && cell.Support.IsMissing
        group cell by (What: $"{cell.Kind.Framework} on {cell.Kind.Transport}", Because: cell.Support.Because!) into lacking
        select lacking.Key;

    private static IEnumerable<(string What, string Because)> AccessLibraries =>
        from library in AccessLibrary.All
        where !library.Support.IsSupported
        select (library.Name, library.Support.Because!);

    private static IEnumerable<(string What, string Because)> Servers =>
        from server in new (string What, string? Because)[]
        {
            ("PostgreSQL", PostgreSqlServer.Missing),
            ("RabbitMQ", RabbitMqServer.Missing),
            ("SQL Server", SqlServerServer.Missing),
        }
        where server.Because is not null
        select (server.What, server.Because!);

    [TestCaseSource(nameof(Missing))]
    public void Its_tests_are_not_run(string because) => Assert.Ignore(because);
}
