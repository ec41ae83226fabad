namespace Kit.Runner.Servers;

/// <summary>The result of a program that has ended.</summary>
/// <param name="Output">Standard output and standard error, trimmed.</param>
public sealed record ProgramResult(int ExitCode, string Output)
{
    public bool Succeeded => ExitCode == 0;
}
