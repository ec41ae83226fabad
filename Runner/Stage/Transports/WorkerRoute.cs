using Kit.Runner.Results;

namespace Kit.Runner.Stage.Transports;

/// <summary>
/// The route of a worker on another machine to a server that a round uses. The run names a place there, such as a database, and never an address or a
/// password; the worker names the server as its machine reaches it.
/// </summary>
/// <param name="PlaceIn">The place in an address that the runner gives to an endpoint.</param>
/// <param name="AddressOf">The address of a place for an endpoint, from the worker's arguments.</param>
/// <param name="RequireAsync">Connects with the worker's arguments.</param>
internal sealed record WorkerRoute(
    Func<string, string> PlaceIn, Func<TransportArguments, string, string> AddressOf, Func<TransportArguments, CancellationToken, Task> RequireAsync)
{
    /// <summary>The worker's option for the server, in words.</summary>
    public required string Description { get; init; }

    /// <summary>The remedy if the server is out of reach from the worker's machine.</summary>
    public const string Remedy =
        "Name the server as this machine reaches it. On the server's side, see the addresses that it listens on, whom it lets in, and firewalls.";

    /// <summary>A failure to connect with the remedy of a worker, which cannot have the kit start a server.</summary>
    public static KitException Explain(KitException failure) => new(failure.Message, Remedy, failure);
}
