using System.Collections.Immutable;
using BenchmarkDotNet.Order;
using BenchmarkDotNet.Running;

namespace Kit.Benchmarks.Micro;

/// <summary>All benchmarks in one group: the baseline takes no argument, and every access library is compared with it.</summary>
internal sealed class OneTable : DefaultOrderer, IOrderer
{
    string? IOrderer.GetLogicalGroupKey(ImmutableArray<BenchmarkCase> allBenchmarksCases, BenchmarkCase benchmarkCase) => "all";

    bool IOrderer.SeparateLogicalGroups => false;
}
