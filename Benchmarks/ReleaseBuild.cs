using System.Diagnostics;
using System.Reflection;
using Kit.Runner.Results;

namespace Kit.Benchmarks;

/// <summary>Refuses to measure code that is not optimized.</summary>
internal static class ReleaseBuild
{
    /// <exception cref="KitException">This is a Debug build.</exception>
    public static void Require()
    {
        if (typeof(ReleaseBuild).Assembly.GetCustomAttribute<DebuggableAttribute>() is { IsJITOptimizerDisabled: true })
            throw new KitException(
                "This is a Debug build: its figures would mean nothing.",
                "dotnet run --project Benchmarks --configuration Release -- PROGRAM");
    }
}
