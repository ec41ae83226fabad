using Kit.Modes;

namespace Kit.Runner.Machine;

/// <summary>What the doctor is asked about.</summary>
/// <param name="PostgreSql">The connection string of the server that option or environment name; <see langword="null"/>: the kit's own.</param>
/// <param name="RabbitMq">The same for the broker: its AMQP URI.</param>
/// <param name="RabbitMqManagement">Where its management plugin is; <see langword="null"/>: where it usually is.</param>
/// <param name="Packages">The optional packages, here or not.</param>
/// <param name="ResultsFolder">Where runs are saved.</param>
/// <param name="TwoPhaseWanted">Whether a mode that prepares transactions is to run.</param>
/// <param name="SqlServer">The connection string of the SQL Server; <see langword="null"/>: none.</param>
public sealed record DoctorQuestion(
    string? PostgreSql,
    string? RabbitMq,
    string? RabbitMqManagement,
    IReadOnlyList<OptionalPackage> Packages,
    string ResultsFolder,
    bool TwoPhaseWanted = true,
    string? SqlServer = null);
