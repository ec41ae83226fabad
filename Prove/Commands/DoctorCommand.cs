using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary><c>doctor</c>: checks everything that a proof or a measurement needs, before it begins.</summary>
internal sealed class DoctorCommand : KitCommand
{
    public DoctorCommand()
        : base(
            "doctor",
            "Checks what a proof or a measurement needs here (servers, machine, load from other programs), and gives a remedy for each problem. " +
            "Exit code 1 without PostgreSQL.",
            ("doctor", "what is here, what is missing, what to do about it")) =>
        SetAction((_, cancellationToken) => ExamineAsync(cancellationToken));

    private static async Task<int> ExamineAsync(CancellationToken cancellationToken)
    {
        IReadOnlyList<Finding> findings =
        [
            await PostgreSqlBinaries.ExamineAsync(isNeeded: true, cancellationToken),
            PrivateRabbitMq.Examine(isNeeded: true, "No service with queues on it can be proved or measured."),
            .. await MachineChecks.ExamineAsync("results", typeof(DoctorCommand).Assembly, startsServers: true, cancellationToken),
        ];
        FindingsWriter.Write(findings, Console.Out);
        return findings.Any(finding => finding.IsFatal) ? ExitCode.Failure : ExitCode.Success;
    }
}
