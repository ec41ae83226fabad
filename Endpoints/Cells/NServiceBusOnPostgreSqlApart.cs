using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>NServiceBus on queues in a PostgreSQL server of their own; the widgets are in another. Compiled only if the package feed has it.</summary>
public sealed class NServiceBusOnPostgreSqlApart : NServiceBusOnPostgreSql
{
    public override string Transport => TransportName.PostgreSqlApart;

    public override Support Supports(TransactionMode mode) => mode == TransactionMode.FullDtc
        ? base.Supports(mode)
        : Support.No("the other modes do the same on one server and on two, except shared, which needs one");
}
