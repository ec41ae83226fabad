namespace Kit.Runner.Servers;

/// <summary>How a program ended.</summary>
/// <param name="Output">What it wrote to standard output and standard error, trimmed.</param>
public sealed record ProgramResult(int ExitCode, string Output)
{
    public bool Succeeded => ExitCode == 0;
}
