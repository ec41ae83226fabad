namespace Kit.Runner.Servers.Machine;

/// <summary>A process and its part of what all processors could do, 0 to 1.</summary>
public sealed record BusyProcess(string Name, int Id, double Share);
