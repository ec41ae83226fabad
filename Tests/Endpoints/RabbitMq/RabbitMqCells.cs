using Kit.Modes;
using Kit.Tests.Contract;

namespace Kit.Tests.RabbitMq;

/// <summary>The cells on RabbitMQ, with the baseline's access.</summary>
internal static class RabbitMqCells
{
    public static IEnumerable<TestFixtureData> All => ContractCells.Of(cell => cell.Kind.Transport == "rabbitmq");

    /// <summary>All of them, one of each framework always.</summary>
    public static IEnumerable<TestFixtureData> OneOfEachFramework =>
        ContractCells.Of(cell => cell.Kind.Transport == "rabbitmq", always: cell => cell.Mode == TransactionMode.DtcOff);

    /// <summary>Those whose broker keeps a message until it was handled.</summary>
    public static IEnumerable<TestFixtureData> Acknowledging =>
        ContractCells.Of(cell => cell.Kind.Transport == "rabbitmq" && cell.Mode != TransactionMode.TransactionsOff);
}
