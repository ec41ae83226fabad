using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds;

/// <summary>What a run sets out to do, as its command line says.</summary>
/// <param name="Cells">The cells that were asked for, runnable or not.</param>
/// <param name="Sizes">How much of everything.</param>
/// <param name="PostgreSql">The server to use; <see langword="null"/> for one of the kit's own.</param>
/// <param name="RabbitMq">The broker to use; <see langword="null"/> for one of the kit's own.</param>
/// <param name="OwnBroker">Whether the kit can start one.</param>
/// <param name="QueueType">How RabbitMQ keeps its queues.</param>
/// <param name="RepeatNoisy">Whether noisy rounds are run once more at the end.</param>
/// <param name="Folder">Where the results go.</param>
/// <param name="CommandLine">The command as it was typed, secrets masked.</param>
/// <param name="SqlServer">The SQL Server to use; <see langword="null"/>: none, for the kit starts none.</param>
internal sealed record RunPlan(
    IReadOnlyList<Cell> Cells,
    RunSettings Sizes,
    string? PostgreSql,
    RabbitMqAddress? RabbitMq,
    Support OwnBroker,
    QueueType QueueType,
    bool RepeatNoisy,
    string Folder,
    string CommandLine,
    string? SqlServer = null)
{
    /// <summary>Why a cell on SQL Server that has its packages cannot run where no server is named.</summary>
    public static readonly Support NoSqlServer =
        Support.No($"needs a SQL Server: none is named (--sqlserver or {ConnectionStrings.SqlServerVariable}), and the kit starts none");

    public IReadOnlyList<Cell> Runnable => [.. Cells.Where(cell => SupportOf(cell).IsSupported)];

    /// <summary>Whether a cell can run here, or the first reason why not.</summary>
    public Support SupportOf(Cell cell) => cell switch
    {
        { Support.IsSupported: true, Kind.Transport: TransportName.RabbitMq } when RabbitMq is null => OwnBroker,
        { Support.IsSupported: true, Kind.Transport: TransportName.SqlServer } when SqlServer is null => NoSqlServer,
        _ => cell.Support,
    };

    /// <summary>Every round of the run: round <i>r</i> has every cell once, in an order drawn from the order seed.</summary>
    /// <param name="cells">The cells that are measured.</param>
    public IEnumerable<(Cell Cell, int Round)> Order(IReadOnlyCollection<Cell> cells)
    {
        var random = new Random(Sizes.OrderSeed);
        for (var round = 1; round <= Sizes.Rounds; round++)
        {
            var shuffled = cells.ToArray();
            random.Shuffle(shuffled);
            foreach (var cell in shuffled)
                yield return (cell, round);
        }
    }
}
