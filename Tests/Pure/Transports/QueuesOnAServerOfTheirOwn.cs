using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Transports;

/// <summary>The cells whose queue is on another PostgreSQL server than their rows.</summary>
public sealed class QueuesOnAServerOfTheirOwn
{
    private static readonly Transport Apart = Transport.Named(TransportName.PostgreSqlApart);

    [Test]
    public void Are_measured_only_when_they_are_named() => Assert.That(
        Axis.Transport.Measured, Is.EqualTo(Axis.Transport.Values.Where(name => name != TransportName.PostgreSqlApart)));

    [Test]
    public void Have_every_mode_but_that_of_one_database()
    {
        var cells = Cell.All.Where(cell => cell.IsPlain && Transport.Of(cell) == Apart).ToList();

        Assert.That(
            TransactionMode.All.Except(cells.Where(cell => cell.Support.IsSupported).Select(cell => cell.Mode)),
            Is.EquivalentTo([TransactionMode.Shared, TransactionMode.FullDtcPromoted]));
        Assert.That(
            Cell.All.Where(cell => Transport.Of(cell) == Apart && cell.Flush != LogFlush.Every && cell.Support.IsSupported), Is.Empty);
    }

    [Test]
    public void Need_two_servers() => Assert.That(
        Transport.NeededBy([Apart]).Select(transport => transport.Name), Is.EqualTo([TransportName.PostgreSql, TransportName.PostgreSqlApart]));

    [Test]
    public async Task Are_listed()
    {
        var result = await RunnerInProcess.RunAsync("list", "--transport", TransportName.PostgreSqlApart, "--access", "ado");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Assert.That(result.Output, Does.Contain("one transaction covers one database, and queue and rows are on two servers"));
    }

    [TestCase(TransportName.PostgreSql, true)]
    [TestCase(TransportName.PostgreSqlApart, false)]
    public void Have_a_server_of_the_queue_that_can_crash_alone(string transport, bool hasNoWindow)
    {
        var cell = Cell.Find($"bare.{transport}.full-dtc.ado")!;

        Assert.That(Injection.Of(Fault.RestartBroker, cell, Guid.Empty) is NoWindow, Is.EqualTo(hasNoWindow));
    }
}
