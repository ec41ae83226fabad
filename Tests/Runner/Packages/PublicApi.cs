using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Endpoints.Bare.RabbitMq;
#if KIT_SQLCLIENT
using Kit.Endpoints.Bare.SqlServer;
#endif
using Kit.Modes;
using Kit.Proofs;
using MassTransit;
using PublicApiGenerator;

namespace Kit.Tests.Packages;

/// <summary>What applications can call, as approved: a change of it is a change for them.</summary>
public sealed class PublicApi
{
    private static IEnumerable<TestCaseData> Assemblies
    {
        get
        {
            yield return Case("TransactionModes", typeof(TransactionMode).Assembly);
            yield return Case("TransactionModes.Bare", typeof(BareEndpointBuilder).Assembly);
            yield return Case("TransactionModes.Bare.PostgreSql", typeof(PostgreSqlQueue).Assembly);
            yield return Case("TransactionModes.Bare.RabbitMq", typeof(RabbitMqAddress).Assembly);
            yield return Case("TransactionModes.Proofs", typeof(Proof).Assembly);
            yield return Case("TransactionModes.MassTransit", typeof(ReceiveEndpointExtensions).Assembly);
            yield return Case("TransactionModes.Rebus", typeof(Kit.Endpoints.Rebus.PostgreSql.RebusSupport).Assembly);
            yield return Case("TransactionModes.Wolverine", typeof(Kit.Endpoints.Wolverine.WolverineSupport).Assembly);
#if KIT_SQLCLIENT
            yield return Case("TransactionModes.Bare.SqlServer", typeof(SqlServerSupport).Assembly);
#endif
#if KIT_NSERVICEBUS
            yield return Case("TransactionModes.NServiceBus", typeof(Kit.Endpoints.NServiceBus.NServiceBusSupport).Assembly);
            yield return Case("TransactionModes.NServiceBus.PostgreSql", typeof(global::NServiceBus.TwoPhasePostgreSqlTransport).Assembly);
#endif
        }
    }

    [TestCaseSource(nameof(Assemblies))]
    public void Is_what_is_approved(string id, Assembly assembly)
    {
        // By default it leaves out namespaces of Microsoft's, where extensions of IServiceCollection belong.
        var everything = new ApiGeneratorOptions { IncludeAssemblyAttributes = false, DenyNamespacePrefixes = [] };
        Approval.Verify($"api-{id}.txt", assembly.GeneratePublicApi(everything) + "\n");
    }

    private static TestCaseData Case(string id, Assembly assembly) => new TestCaseData(id, assembly).SetArgDisplayNames(id);
}
