using Kit.Modes;
using Kit.Runner.Transports;

namespace Kit.Runner.Machine;

/// <summary>What the doctor is asked about.</summary>
/// <param name="Arguments">The servers that options or environment name; the others are the kit's own.</param>
/// <param name="Packages">The optional packages, here or not.</param>
/// <param name="ResultsFolder">Where runs are saved.</param>
internal sealed record DoctorQuestion(TransportArguments Arguments, IReadOnlyList<OptionalPackage> Packages, string ResultsFolder);
