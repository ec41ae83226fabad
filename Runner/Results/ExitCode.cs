namespace Kit.Runner.Results;

/// <summary>The exit codes of the command line.</summary>
public static class ExitCode
{
    public const int Success = 0;

    /// <summary>
    /// A round was INVALID, stalled or failed; a promise was not kept for no known reason, or a fault did not fire; or the command could not do its work.
    /// </summary>
    public const int Failure = 1;

    /// <summary>The command line could not be understood, or named something that does not exist.</summary>
    public const int Usage = 2;

    /// <summary>A comparison found a cell slower than its threshold allows, or a promise broken that was not broken before.</summary>
    public const int Regression = 3;

    /// <summary>Stopped by Ctrl+C; finished rounds are kept. 128 + SIGINT, as shells have it.</summary>
    public const int Interrupted = 130;
}
