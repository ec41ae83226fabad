namespace Kit.Runner.Transports;

/// <summary>
/// Code that chooses by transport met one that nobody wired. There is no default: a transport would silently be another one.
/// </summary>
/// <param name="name">The transport, as its cell names it.</param>
internal sealed class UnknownTransportException(string name) : NotSupportedException(
    $"Transport '{name}' has no descriptor. Known: {string.Join(", ", Transport.All.Select(one => one.Name))}. " +
    $"Write one in Runner/Transports, and enter it in {nameof(Transport)}.{nameof(Transport.All)}.");
