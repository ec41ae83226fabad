using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Machine;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Machine;

[Parallelizable]
public sealed class DoctorTests
{
    private static readonly MachineFacts Machine = new(4, "Some CPU", 16L << 30, 8L << 30, "Some Linux", ".NET 10", ServerGc: false);

    [Test]
    public async Task A_server_out_of_reach_is_one_fatal_problem_without_its_password()
    {
        var findings = await Doctor.ExamineAsync(
            Asked(TransportName.PostgreSql, "Host=127.0.0.1;Port=1;Username=kit;Password=hidden-word"), CancellationToken.None);

        var server = findings.Single(finding => finding.Name is "PostgreSQL server");
        Assert.Multiple(() =>
        {
            Assert.That(server.Found, Is.EqualTo("Host=127.0.0.1;Port=1;Username=kit;Password=***"));
            Assert.That(server.Problem, Does.Contain("out of reach"));
            Assert.That(server.IsFatal, Is.True);
            Assert.That(findings.Select(finding => finding.ToString()), Has.None.Contains("hidden-word"));
        });
    }

    [Test]
    public async Task A_broker_out_of_reach_is_one_fatal_problem_without_its_password()
    {
        var findings = await Doctor.ExamineAsync(
            Asked(TransportName.RabbitMq, "amqp://kit:hidden-word@127.0.0.1:1"), CancellationToken.None);

        var broker = findings.Single(finding => finding.Name is "RabbitMQ broker");
        Assert.Multiple(() =>
        {
            Assert.That(broker.Found, Is.EqualTo("amqp://kit:***@127.0.0.1:1"));
            Assert.That(broker.Problem, Does.Contain("out of reach"));
            Assert.That(broker.IsFatal, Is.True);
            Assert.That(findings.Select(finding => finding.ToString()), Has.None.Contains("hidden-word"));
        });
    }

    [Test]
    public async Task A_named_server_is_asked()
    {
        var server = await PostgreSqlServer.GetAsync();

        var findings = await Doctor.ExamineAsync(
            Asked(TransportName.PostgreSql, server.ConnectionString), CancellationToken.None);

        Assert.That(findings.Single(finding => finding.Name is "PostgreSQL server").Found, Does.StartWith($"{server.Version}"));
    }

    [Test]
    public void What_is_not_here_is_not_called_ok()
    {
        using var output = new StringWriter { NewLine = "\n" };

        FindingsWriter.Write(
            [new Finding("Package", "the package feed has none") { IsLeftOut = true }, new Finding("cores", "2"), new Finding("disk", "none", "It is full.")],
            output);

        Assert.That(output.ToString(), Does.StartWith("left out Package  the package feed has none\nok       cores    2\nproblem  disk     none\n"));
    }

    [Test]
    public async Task Optional_packages_are_listed_with_their_reason()
    {
        var findings = await Doctor.ExamineAsync(
            new DoctorQuestion(
                TransportArguments.None,
                [
                    new("here", "group", "1.2.3", Support.Yes, IsFromFolder: false, "/packages/here"),
                    new("missing", "group", "1.2.3", Support.No("not on the feed"), IsFromFolder: false, "0 versions found"),
                    new("left out", "group", "1.2.3", Support.No("not wanted"), IsFromFolder: false, ""),
                ],
                Path.GetTempPath()),
            CancellationToken.None);

        Assert.Multiple(() =>
        {
            Assert.That(findings, Has.One.EqualTo(new Finding("here", "1.2.3, from /packages/here")));
            Assert.That(findings, Has.One.EqualTo(new Finding("missing", "not on the feed (NuGet: 0 versions found)") { IsLeftOut = true }));
            Assert.That(findings, Has.One.EqualTo(new Finding("left out", "not wanted") { IsLeftOut = true }));
            Assert.That(findings, Has.One.Property("Name").EqualTo("licence of NServiceBus"));
        });
    }

    [Test]
    public async Task Without_a_folder_for_its_servers_no_run_can_start()
    {
        using var runner = RunnerProcess.Start(
            new Dictionary<string, string> { [ServerPlace.Variable] = "/no/such/folder" }, RunnerProcess.ProgramPath, ["doctor"]);
        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output);
        Assert.That(result.Output, Does.Contain($"{ServerPlace.Variable} names /no/such/folder, which is not a folder.").And.Not.Contain("a run can start"));
    }

    private static DoctorQuestion Asked(string transport, string server) =>
        new(TransportArguments.None.With(Transport.Named(transport).Server!, server), [], Path.GetTempPath());

    [Test]
    public void A_roomy_machine_has_no_problem() =>
        Assert.That(MachineChecks.OfMachine(Machine).Select(finding => finding.Problem), Is.All.Null);

    [Test]
    public void One_core_is_a_problem() =>
        Assert.That(MachineChecks.OfMachine(Machine with { Cores = 1 }).Single(finding => finding.Problem is not null).Name, Is.EqualTo("cores"));

    [Test]
    public void Scarce_memory_is_a_problem() =>
        Assert.That(
            MachineChecks.OfMachine(Machine with { AvailableMemoryBytes = 100 << 20 }).Single(finding => finding.Problem is not null).Found,
            Is.EqualTo("16.0 GiB, 0.1 GiB available"));

    [TestCase(0.08, null)]
    [TestCase(0.081, "Other processes use more than 8 % of the CPU; rounds will be noisy.")]
    public void More_than_eight_percent_of_load_is_a_problem(double share, string? problem)
    {
        var use = new CpuUse(TimeSpan.FromSeconds(1), TimeSpan.Zero, TimeSpan.FromSeconds(share), share, new BusyProcess("indexer", 7, 0.05));

        var finding = MachineChecks.OfLoad(use);

        Assert.Multiple(() =>
        {
            Assert.That(finding.Problem, Is.EqualTo(problem));
            Assert.That(finding.Found, Does.EndWith("%, most of it indexer (5.0 %)"));
        });
    }

    [Test]
    public void Findings_are_aligned_and_problems_have_their_remedy_below()
    {
        using var output = new StringWriter { NewLine = "\n" };

        FindingsWriter.Write(
            [new Finding("cores", "4"), new Finding("max_prepared_transactions", "0", "It is 0.", "Set it.", IsFatal: true)], output);

        Assert.That(
            output.ToString(),
            Is.EqualTo(
                """
                ok       cores                      4
                problem  max_prepared_transactions  0
                         It is 0.
                         → Set it.

                1 problem; a run cannot start.

                """.ReplaceLineEndings("\n")));
    }
}
