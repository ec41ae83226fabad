using System.Reflection;
using BenchmarkDotNet.Attributes;
using Kit.Benchmarks;

namespace Kit.Tests.Benchmarks;

/// <summary>In this process, BenchmarkDotNet does not wait for a setup that returns a task, and the benchmark runs without what it sets up.</summary>
public sealed class SetupsOfBenchmarks
{
    private static readonly Type[] Marks =
        [typeof(GlobalSetupAttribute), typeof(GlobalCleanupAttribute), typeof(IterationSetupAttribute), typeof(IterationCleanupAttribute)];

    [Test]
    public void Return_when_they_are_done()
    {
        var setups = typeof(BenchmarkServer).Assembly.GetTypes()
            .SelectMany(type => type.GetMethods(BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly))
            .Where(method => Array.Exists(Marks, mark => method.IsDefined(mark)))
            .ToList();

        Assert.That(setups, Is.Not.Empty);
        Assert.That(setups.Where(setup => setup.ReturnType != typeof(void)).Select(setup => $"{setup.DeclaringType}.{setup.Name}"), Is.Empty);
    }
}
