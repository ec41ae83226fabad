using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>What all rounds of a run share.</summary>
/// <param name="Sizes">How much is seeded, warmed up and drained.</param>
/// <param name="Server">Connection string to the widgets' server.</param>
/// <param name="Clock">Which clock that server allows.</param>
/// <param name="Postmaster">Process id of the server where it is the kit's own.</param>
internal sealed record RoundSettings(RunSettings Sizes, string Server, ClockSource Clock, int? Postmaster);
