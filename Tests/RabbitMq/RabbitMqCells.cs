using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.RabbitMq;

/// <summary>The cells on RabbitMQ, with the baseline's access.</summary>
internal static class RabbitMqCells
{
    public static IEnumerable<TestFixtureData> All => Of(_ => true);

    /// <summary>Those whose broker keeps a message until it was handled.</summary>
    public static IEnumerable<TestFixtureData> Acknowledging => Of(cell => cell.Mode != TransactionMode.TransactionsOff);

    private static IEnumerable<TestFixtureData> Of(Predicate<Cell> wanted) => Cell.All
        .Where(cell => cell is { Kind.Transport: "rabbitmq", Access.Name: "ado", Support.IsSupported: true } && wanted(cell))
        .Select(cell => new TestFixtureData(cell).SetArgDisplayNames(cell.Name));
}
