using Kit.Modes;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Machine;

/// <summary>The subjects of the doctor's examination.</summary>
/// <param name="Arguments">The servers named by options or environment; the others are the kit's own.</param>
/// <param name="Packages">Present or not.</param>
internal sealed record DoctorQuestion(TransportArguments Arguments, IReadOnlyList<OptionalPackage> Packages, string ResultsFolder);
