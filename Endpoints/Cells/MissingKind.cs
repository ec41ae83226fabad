using System.Reflection;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>A framework on a transport whose packages the feed does not have: named, and not able to run. Compiled where that is so.</summary>
internal sealed class MissingKind(string framework, string transport, Support support) : IEndpointKind
{
    public string Framework => framework;

    public string Transport => transport;

    public IReadOnlyList<Assembly> Packages => [];

    public Support Supports(TransactionMode mode) => support;

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleWidget handle) => throw Missing();

    public ICellQueue OpenQueue(string name, string transport, QueueType queueType = QueueType.Classic) => throw Missing();

    private NotSupportedException Missing() => new($"{framework} on {transport}: {support.Because}.");
}
