using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.Machine;

/// <summary>Checks everything that can spoil a run, before the run.</summary>
internal static class Doctor
{
    /// <summary>Every check, in the order in which they are shown. If a check cannot be made, that is the finding's problem.</summary>
    public static async Task<IReadOnlyList<Finding>> ExamineAsync(DoctorQuestion question, CancellationToken cancellationToken) =>
    [
        .. await OfTransportsAsync(question.Arguments, cancellationToken),
        .. question.Packages.Select(OfPackage),
        new Finding("licence of NServiceBus", "RPL-1.5, or commercial from Particular Software; the kit ships none of it"),
        .. await MachineChecks.ExamineAsync(
            question.ResultsFolder, typeof(Doctor).Assembly, startsServers: question.Arguments[PostgreSqlTransport.ServerSetting] is null, cancellationToken),
    ];

    private static async Task<IReadOnlyList<Finding>> OfTransportsAsync(TransportArguments arguments, CancellationToken cancellationToken)
    {
        var findings = new List<Finding>();
        foreach (var transport in Transport.All)
            findings.AddRange(await transport.ExamineAsync(arguments, cancellationToken));

        return findings;
    }

    private static Finding OfPackage(OptionalPackage package) => new(
        package.Name,
        package.Support.Because is not { } reason ? $"{package.Version}, from {package.Origin}"
        : package.Origin.Length == 0 ? reason
        : $"{reason} (NuGet: {package.Origin})")
    {
        IsLeftOut = !package.Support.IsSupported,
    };
}
