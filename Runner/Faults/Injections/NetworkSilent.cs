using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Injections;

/// <summary>No byte arrives on any connection of the endpoint for a while.</summary>
internal sealed class NetworkSilent : InADrain
{
    /// <summary>Shorter than the time limits of drivers and brokers.</summary>
    private static readonly TimeSpan Time = TimeSpan.FromSeconds(8);

    protected override async Task<string?> DisturbAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var testbed = scene.Testbed;
        FaultProxy[] proxies = [.. new[] { testbed.WidgetsProxy, testbed.TransportProxy }.Distinct()];
        try
        {
            if (proxies.Sum(proxy => proxy.Stall(Traffic.Both)) == 0)
                return "there was no open connection";

            await Task.Delay(FaultScene.Moment, cancellationToken);
            var before = testbed.Journal.Count();
            await Task.Delay(Time - FaultScene.Moment, cancellationToken);
            if (testbed.Journal.Count() - before > Testbed.Concurrency * testbed.Shape.LinesPerAttempt)
                return "the drain went on";
        }
        finally
        {
            foreach (var proxy in proxies)
                proxy.Resume(Traffic.Both);
        }

        scene.Tell($"no byte arrived for {Time.TotalSeconds} s, and no attempt began and ended");
        return null;
    }
}
