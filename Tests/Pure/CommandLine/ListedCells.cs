using System.Reflection;
using System.Text.RegularExpressions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Tests.CommandLine;

public sealed partial class ListedCells
{
    [Test]
    public async Task Every_cell_is_shown_with_what_hinders_it()
    {
        var result = await RunnerInProcess.RunAsync("list", "--access", "all");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Approval.Verify("list.txt", WhateverTheFeedHas(result.Output));
    }

    [Test]
    public async Task Without_a_filter_the_matrix_comes_first_and_each_reason_once()
    {
        var result = await RunnerInProcess.RunAsync("list");

        var lines = result.Output.Split('\n');
        Assert.That(lines[0].Split(' ', StringSplitOptions.RemoveEmptyEntries), Is.EqualTo(["framework", "transport", "modes"]));
        Assert.That(lines.Where(line => line.StartsWith("Cannot run: ", StringComparison.Ordinal)), Is.Unique);
        Assert.That(lines.Count(line => line.Contains("AMQP 0-9-1", StringComparison.Ordinal)), Is.EqualTo(1));
        Assert.That(lines[^2], Does.EndWith("cells can run. Each with its reason: list --access all"));
    }

    [Test]
    public void Matrix_is_as_approved()
    {
        using var output = new StringWriter { NewLine = "\n" };

        ListCommand.WriteMatrix(
            [.. Cell.All.Where(cell => cell is { IsPlain: true, Kind: { Framework: "bare" or "masstransit", Transport: not TransportName.SqlServer } }
                && cell.Access.Name is not "npoco")],
            TransportArguments.None,
            output);

        Approval.Verify("list-matrix.txt", output.ToString());
    }

    [Test]
    public async Task Modes_are_explained()
    {
        var result = await RunnerInProcess.RunAsync("list", "--modes");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Approval.Verify("list-modes.txt", result.Output);
    }

    [Test]
    public async Task Settings_of_the_flush_are_explained()
    {
        var result = await RunnerInProcess.RunAsync("list", "--flushes");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Assert.That(result.Output.Split('\n')[..3], Is.EqualTo(LogFlush.All.Select(flush =>
            $"{flush.Name.PadRight(5)}  {flush.What}{(flush == LogFlush.Every ? " (the default)" : "")}")));
    }

    [TestCase("--scenarios")]
    [TestCase("--conditions")]
    [TestCase("--flushes")]
    [TestCase("--round-trips")]
    [TestCase("--faults")]
    public async Task A_filter_is_refused_where_it_would_change_nothing(string instead)
    {
        var result = await RunnerInProcess.RunAsync("list", instead, "--framework", "bare");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage), result.Output);
        Assert.That(result.Errors, Does.Contain($"--framework: does not apply to {instead}, which shows the same for every cell. Leave it out."));
    }

    [Test]
    public async Task Modes_and_promises_are_not_listed_together()
    {
        var result = await RunnerInProcess.RunAsync("list", "--modes", "--promises");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(
            result.Errors,
            Does.Contain("--modes, --promises, --scenarios, --conditions, --flushes, --round-trips and --faults: expected at most one of them."));
    }

    [Test]
    public async Task Filters_choose_among_them()
    {
        var result = await RunnerInProcess.RunAsync("list", "--mode", "dtc-off,scope-off", "--access", "ado", "--framework", "bare");

        Assert.That(result.Output.Split('\n')[0..2], Is.EqualTo(new[]
        {
            "bare  postgresql        dtc-off    ado  can run",
            "bare  postgresql        scope-off  ado  can run",
        }));
    }

    [Test]
    public void No_cell_is_said()
    {
        using var output = new StringWriter();

        ListCommand.Write([], TransportArguments.None, output);

        Assert.That(output.ToString(), Does.StartWith("There is no such cell: "));
    }

    [TestCase(false, "needs a SQL Server: none is named (--sqlserver or KIT_SQLSERVER), and the kit starts none", "0 of 1")]
    [TestCase(true, "can run", "1 of 1")]
    public void Cells_on_SQL_Server_need_a_server_that_is_named(bool isNamed, string said, string count)
    {
        using var output = new StringWriter { NewLine = "\n" };

        ListCommand.Write(
            [new Cell(new OnSqlServer(), TransactionMode.DtcOff)],
            TransportArguments.None.With(Transport.Named(TransportName.SqlServer).Server!, isNamed ? "Server=db1" : null), output);

        Assert.That(output.ToString(), Is.EqualTo($"bare  sqlserver  dtc-off  ado  {said}\n\n{count} cells can run.\n"));
    }

    // Optional packages are there or not; what is said then is theirs to test.
    private static string WhateverTheFeedHas(string list) => Count().Replace(Optional().Replace(list, "${cell}(with the package)"), "(some)");

    [GeneratedRegex(
        "^(?<cell>(nservicebus .*(ado|dapper|ef|npoco)|.* npoco|.* sqlserver +[^ ]+ +[^ ]+) +).*$",
        RegexOptions.Multiline | RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Optional();

    [GeneratedRegex("^[0-9]+(?= of )", RegexOptions.Multiline, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Count();

    /// <summary>As if the package of its driver were there.</summary>
    private sealed class OnSqlServer : IEndpointKind
    {
        public FrameworkFacts Facts => FactsOfBare.Facts;

        public string Transport => TransportName.SqlServer;

        public WidgetServer WidgetServer => throw new NotSupportedException();

        public IReadOnlyList<Assembly> Packages => [];

        public Support Supports(TransactionMode mode) => Support.Yes;

        public IReadOnlyList<string> CodeOf(TransactionMode mode) => throw new NotSupportedException();

        public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) => throw new NotSupportedException();

        public IMessageQueue OpenQueue(string name, string transport) => throw new NotSupportedException();
    }
}
