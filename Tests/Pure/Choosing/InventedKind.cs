using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Tests.Choosing;

/// <summary>A framework on a transport that supports what a test says, whatever this build and machine have. It is never started.</summary>
internal sealed class InventedKind(string framework, string transport, Func<TransactionMode, Support> supports, Support? inBuild = null) : IEndpointKind
{
    /// <summary>SQL Server with MSDTC.</summary>
    public static InventedKind OnWindows { get; } = Supporting(
        TransportName.SqlServer, TransactionMode.FullDtc, TransactionMode.FullDtcPromoted, TransactionMode.DtcOff, TransactionMode.ScopeOff,
        TransactionMode.TransactionsOff);

    public FrameworkFacts Facts { get; } = new(framework, framework) { Limits = [] };

    public string Transport => transport;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public IReadOnlyList<Assembly> Packages => [];

    public Support InBuild => inBuild ?? Support.Yes;

    /// <summary>A cell of each mode.</summary>
    public IReadOnlyList<Cell> Cells =>
        [.. TransactionMode.All.Select(mode => new Cell(this, mode))];

    public static InventedKind Supporting(string transport, params TransactionMode[] modes) =>
        new("invented", transport, mode => modes.Contains(mode) ? Support.Yes : Support.No("the test said so"));

    public Support Supports(TransactionMode mode) => supports(mode);

    public IReadOnlyList<string> CodeOf(TransactionMode mode) => [$"invented.Use({ModeInCode.Of(mode)});"];

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) => throw new NotSupportedException();

    public IMessageQueue OpenQueue(string name, string transport) => throw new NotSupportedException();
}
