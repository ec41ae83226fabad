using System.CommandLine;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.Loads;

/// <summary>The options that <c>run</c> has and <c>load</c> has not. Typed with <c>load</c>, each is refused with the reason and a page to read.</summary>
internal static class OptionsOfRun
{
    private const string OneClock = "because it measures latency with the clock of one machine";
    private const string NoRounds = "a load has no rounds: --for says how long it sends. Rounds are for 'run'; see docs/guides/load.md.";
    private const string NotResumed = "a load that was stopped keeps what it measured and cannot go on. A 'run' can; see docs/guides/load.md.";
    private const string NoWorkers =
        $"a load has its handlers on this machine, {OneClock}. 'worker --join' is for 'run'; see docs/reference/conditions.md. " +
        "--processes 2 starts two on this machine.";

    private static readonly IReadOnlyList<(string Name, string Reason)> All =
    [
        ("--workers", NoWorkers),
        ("--wait", NoWorkers),
        .. Transport.All.SelectMany(transport => transport.Settings).Select(setting => (
            setting.Option, $"a load runs on the kit's own servers, {OneClock}. Named servers are for 'run'; see docs/guides/load.md.")),
        .. Transport.All.SelectMany(transport => transport.Choices).Select(setting => (
            setting.Option, "a load has the default. Other values are measured with 'run'; see docs/guides/load.md.")),
        .. new[] { "--messages", "--at-least", "--rounds", "--precision", "--max-rounds", "--order-seed", "--quick", "--no-repeat" }
            .Select(name => (name, NoRounds)),
        ("--resume", NotResumed),
        ("--retry-failed", NotResumed),
        (ServerPlace.Option, "the servers of a load have their files on a disk. Those of a 'run' need not; see docs/guides/load.md."),
    ];

    /// <summary>The refused options, which no help shows.</summary>
    public static IEnumerable<Option> Refused => All.Select(one => RefusedOption.Create(one.Name, one.Reason));
}
