using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds;

/// <summary>The RabbitMQ broker of a run: the user's, or one of the kit's own, which disposing stops and removes.</summary>
internal sealed class RunBroker : IAsyncDisposable
{
    private readonly PrivateRabbitMq? own;

    private RunBroker(PrivateRabbitMq? own, RabbitMqAddress address, string version, IReadOnlyList<int>? processes)
    {
        this.own = own;
        Address = address;
        Version = version;
        Processes = processes;
    }

    public RabbitMqAddress Address { get; }

    public string Version { get; }

    /// <summary>Its processes; <see langword="null"/> where it is not the kit's own.</summary>
    public IReadOnlyList<int>? Processes { get; private set; }

    /// <summary>What a user should know of the broker that was named.</summary>
    public IReadOnlyList<string> Warnings { get; private init; } = [];

    /// <exception cref="KitException">The named broker cannot be used, or the kit's own does not start.</exception>
    public static async Task<RunBroker> OpenAsync(RabbitMqAddress? named, CancellationToken cancellationToken)
    {
        if (named is not null)
        {
            var facts = await RabbitMqFacts.RequireAsync(named, cancellationToken);
            return new RunBroker(own: null, named, facts.Version, processes: null) { Warnings = [.. facts.Findings().Select(finding => finding.Problem).OfType<string>()] };
        }

        var started = await PrivateRabbitMq.StartAsync(cancellationToken);
        return new RunBroker(started, started.Address, started.Version.ToString(), await started.FindPidsAsync());
    }

    /// <summary>Ends the kit's own broker as a crash would, and starts it again.</summary>
    /// <exception cref="InvalidOperationException">The broker is the user's.</exception>
    /// <exception cref="KitException">It does not start again.</exception>
    public async Task CrashAsync(CancellationToken cancellationToken)
    {
        if (own is null)
            throw new InvalidOperationException("The broker is the user's, and is not stopped.");

        await own.StopImmediatelyAsync();
        await own.RestartAsync(cancellationToken);
        Processes = await own.FindPidsAsync();
    }

    public ValueTask DisposeAsync() => own?.DisposeAsync() ?? ValueTask.CompletedTask;
}
