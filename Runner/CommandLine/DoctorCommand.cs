using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Machine;

namespace Kit.Runner.CommandLine;

/// <summary><c>doctor</c>: looks at all that a run needs, before a run does.</summary>
internal sealed class DoctorCommand : KitCommand
{
    private readonly TransportOptions servers = TransportOptions.Servers();

    public DoctorCommand()
        : base(
            "doctor",
            "Shows what a run would find here (servers, packages, machine, load by others), and a remedy for each problem. " +
            "Exit code 1 when a run could not start.",
            ("doctor", "what is here, what is missing, what to do about it"),
            ("doctor --postgresql \"Host=db1;Username=kit;Password=…\"", "whether that server can be used"),
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
