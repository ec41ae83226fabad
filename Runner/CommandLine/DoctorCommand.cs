using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Machine;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>doctor</c>: checks everything that a run needs, before a run does.</summary>
internal sealed class DoctorCommand : KitCommand
{
    private readonly TransportOptions servers = TransportOptions.Servers();

    public DoctorCommand()
        : base(
            "doctor",
            "Checks what a run needs here (servers, packages, machine, load from other programs), and gives a remedy for each problem. " +
            "Exit code 1 if a run could not start.",
            ("doctor", "what is here, what is missing, what to do about it"),
            ("doctor --postgresql \"Host=db1;Username=kit;Password=…;Database=postgres\"", "whether that server can be used"),
            ("doctor --rabbitmq amqp://kit:…@queues1", "whether that broker can be used"))
    {
        foreach (var option in servers.All)
            Options.Add(option);
        SetAction(ExamineAsync);
    }

    private async Task<int> ExamineAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var question = new DoctorQuestion(TransportOptions.Read(parsed, servers), OptionalPackages.All, ResultsFolder: "results");
        var findings = await Doctor.ExamineAsync(question, cancellationToken);
        FindingsWriter.Write(findings, Console.Out);
        return findings.Any(finding => finding.IsFatal) ? ExitCode.Failure : ExitCode.Success;
    }
}
