using Kit.Modes;
using Kit.Runner.Transports;

namespace Kit.Runner.Machine;

/// <summary>What the doctor is to examine.</summary>
/// <param name="Arguments">The servers named by options or environment; the others are the kit's own.</param>
/// <param name="Packages">The optional packages, present or not.</param>
/// <param name="ResultsFolder">Where runs are saved.</param>
internal sealed record DoctorQuestion(TransportArguments Arguments, IReadOnlyList<OptionalPackage> Packages, string ResultsFolder);
