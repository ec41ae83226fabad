using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Loads;
using Kit.Runner.Results;
using Kit.Runner.Results.Published;
using Kit.Runner.Rounds;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Loading;

/// <summary>Published experiments, by the command line.</summary>
[Parallelizable]
public sealed class RepeatedPlans
{
    private static IEnumerable<TestCaseData> Commands =>
        from experiment in PublishedExperiment.All
        from command in experiment.Commands
        from length in Enum.GetValues<ExperimentLength>()
        select new TestCaseData(command, length).SetArgDisplayNames(experiment.Name, command.Name, $"{length}");

    [TestCaseSource(nameof(Commands))]
    public void Each_command_can_be_typed(PublishedCommand command, ExperimentLength length)
    {
        string[] arguments = [.. command.At(length)];

        Assert.That(
            new RootCommand { arguments[0] == "run" ? new RunCommand(arguments) : new LoadCommand(arguments) }.Parse(arguments).Errors, Is.Empty);
    }

    [Test]
    public void Each_row_names_a_cell_that_can_run() => Assert.That(
        from row in PublishedExperiment.All.SelectMany(one => one.Tables).SelectMany(table => table.Rows)
        let cell = Cell.Find(row.Cell.Replace('/', '.'))
        where cell is null || !cell.Support.IsSupported
        select $"{row.Cell}: {cell?.Support.Because ?? "there is none"}",
        Is.Empty);

    [Test]
    public async Task A_folder_that_is_not_there_is_named()
    {
        var result = await RunnerProcess.RunAsync("experiment", "wso2-round-3-2008", "--from", "no-such-folder");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.Contain("There is no folder no-such-folder."));
    }

    [Test]
    [Exhaustive]
    public async Task A_quick_one_runs_its_commands_and_shows_its_tables()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var parent = new TemporaryFolder();
        var folder = Path.Combine(parent.Path, "biztalk");

        var result = await RunnerProcess.RunAsync("experiment", "biztalk-dynamic-ports-2010", "--quick", "--out", folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var report = await File.ReadAllTextAsync(Path.Combine(folder, ExperimentReport.FileName));
        var shown = await RunnerProcess.RunAsync("experiment", "biztalk-dynamic-ports-2010", "--from", folder);
        var others = await RunnerProcess.RunAsync("experiment", "neuron-pooling-2017", "--from", folder);
        var alone = await RunnerProcess.RunAsync("experiment", "wso2-round-3-2008", "--from", Path.Combine(folder, "one-way"));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.Output, Does.Contain("Command 1 of 2: load ").And.Contain("Command 2 of 2: run "));
            Assert.That(report, Does.Contain("| set up once, compiled | 12.2 | 2.61 | 1600 | 40.5 | bare/postgresql/dtc-off/ado/transform-once-and-query |"));
            Assert.That(report, Does.Contain("**One-way**").And.Contain("**What is different here**").And.Not.Contain("not measured"));
            Assert.That((shown.ExitCode, others.ExitCode, alone.ExitCode), Is.EqualTo((ExitCode.Success, ExitCode.Failure, ExitCode.Failure)));
            Assert.That(shown.Output, Does.Contain("set up for each message, slow engine"));
            Assert.That(others.Errors, Does.Contain("The results have none of the cells of neuron-pooling-2017"));
            Assert.That(alone.Errors, Does.Contain("The results have none of the cells of wso2-round-3-2008"));
        }
    }
}
