using System.Text.Json.Serialization;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds.Joining;

/// <summary>A notification between a run and a worker, as JSON.</summary>
[JsonDerivedType(typeof(RunOffer), "offer")]
[JsonDerivedType(typeof(RunEnded), "ended")]
[JsonDerivedType(typeof(WorkerAdmitted), "admitted")]
[JsonDerivedType(typeof(WorkerJoins), "joins")]
[JsonDerivedType(typeof(WorkerRefused), "refused")]
[JsonDerivedType(typeof(WorkerIsThere), "there")]
[JsonDerivedType(typeof(WorkerLeft), "left")]
[JsonDerivedType(typeof(ProcessLine), "line")]
internal abstract record JoiningNotice;

/// <summary>A run that workers can join: its sign that it is there. In every protocol it has the build, and a worker looks at that first.</summary>
/// <param name="Machine">The name of its machine.</param>
/// <param name="Command">Its command, secrets masked.</param>
/// <param name="Transports">The transports whose servers a worker must reach.</param>
internal sealed record RunOffer(JoiningBuild Build, string Machine, string Command, IReadOnlyList<string> Transports) : JoiningNotice
{
    /// <summary>The command for a worker.</summary>
    public string HowToJoin(string server) => $"./run.sh worker --join \"{ConnectionStrings.Mask(server)}\"" + string.Concat(
        Transports.Select(Transport.Named).Where(transport => !transport.HoldsWidgets).Select(transport => $" {transport.Server!.Option} …"));
}

/// <param name="How">For a reader; <see langword="null"/>: for this worker only, because it was silent for too long.</param>
internal sealed record RunEnded(string? How) : JoiningNotice;

/// <param name="Number">The number of the worker; <see langword="null"/>: the run has all that it needs.</param>
internal sealed record WorkerAdmitted(int? Number) : JoiningNotice;

internal sealed record WorkerJoins(string Machine, HostFacts Host) : JoiningNotice;

internal sealed record WorkerRefused(string Why) : JoiningNotice;

internal sealed record WorkerIsThere : JoiningNotice;

internal sealed record WorkerLeft(string Why) : JoiningNotice;

/// <summary>A line to or from a handler process.</summary>
/// <param name="Process">The number of the process in the run, from 1.</param>
/// <param name="Text">The line; <see langword="null"/>: the process must end, or has ended.</param>
internal sealed record ProcessLine(int Process, string? Text) : JoiningNotice;
