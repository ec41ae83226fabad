namespace Kit.Runner.Stage.Transports;

/// <summary>
/// A transport has no descriptor. There is no default: it would silently be another transport.
/// </summary>
/// <param name="name">As its cell names it.</param>
internal sealed class UnknownTransportException(string name) : NotSupportedException(
    $"Transport '{name}' has no descriptor. Known: {string.Join(", ", Transport.All.Select(one => one.Name))}. " +
    $"Write one in Runner/Stage/Transports, and add it to {nameof(Transport)}.{nameof(Transport.All)}.");
