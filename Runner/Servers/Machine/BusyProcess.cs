namespace Kit.Runner.Servers.Machine;

/// <summary>A process and its share of all processors' capacity, 0 to 1.</summary>
public sealed record BusyProcess(string Name, int Id, double Share);
