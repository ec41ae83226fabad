using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>A framework on a transport that this build lacks. Its cells are listed with the reason.</summary>
/// <param name="group">The missing group of optional packages.</param>
internal sealed class MissingEndpointKind(FrameworkFacts facts, string transport, string group) : IEndpointKind
{
    private readonly Support support = OptionalPackages.All.First(package => package.Group == group && !package.Support.IsSupported).Support;

    public FrameworkFacts Facts => facts;

    public string Transport => transport;

    public WidgetServer WidgetServer => throw Missing();

    public IReadOnlyList<Assembly> Packages => [];

    public Support InBuild => support;

    public Support Supports(TransactionMode mode) => support;

    public IReadOnlyList<string> CodeOf(TransactionMode mode) => throw Missing();

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) => throw Missing();

    public IMessageQueue OpenQueue(string name, string transport) => throw Missing();

    private NotSupportedException Missing() => new($"{facts.Name} on {transport}: {support.Because}.");
}
