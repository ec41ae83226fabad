using System.CommandLine;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Kit.Runner;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Inserts;

/// <summary><c>bdn</c>: what one insert costs with each access library, by BenchmarkDotNet.</summary>
internal sealed class InsertsCommand : Command
{
    private readonly Option<int> seedRows = CountOption.SeedRows();
    private readonly Option<bool> quick = new("--quick") { Description = "BenchmarkDotNet's short job. For a trial: do not cite its figures." };

    public InsertsCommand()
        : base("bdn", """
            One insert with each access library, on an open connection in autocommit, against a raw prepared command. Commits do not wait for
            the disk here: the flush is the same for all.

            Examples:
              bdn
              bdn --quick --seed-rows 1000      to see that it works
            """)
    {
        Options.Add(seedRows);
        Options.Add(quick);
        SetAction((parsed, cancellationToken) => RunAsync(parsed.GetValue(seedRows), parsed.GetValue(quick), Console.Out, cancellationToken));
    }

    private static async Task<int> RunAsync(int seedRows, bool quick, TextWriter output, CancellationToken cancellationToken)
    {
        await using var server = await BenchmarkServer.StartAsync(seedRows, output, cancellationToken);
        await using var restored = await server.Databases.RestoreAsync(cancellationToken);
        Environment.SetEnvironmentVariable(InsertOfOneWidget.ConnectionVariable, EndpointConnections.For(restored.Widgets));
        // In this process: BenchmarkDotNet's own projects need a project file with the name of its assembly, and this tree has none.
        var config = DefaultConfig.Instance
            .WithOrderer(new OneTable())
            .AddJob((quick ? Job.ShortRun : Job.Default).WithToolchain(InProcessEmitToolchain.Instance));

        // It cannot be cancelled; it ends with this process.
        var summary = await Task.Run(() => BenchmarkRunner.Run<InsertOfOneWidget>(config), CancellationToken.None).WaitAsync(cancellationToken);
        return summary.HasCriticalValidationErrors || summary.Reports.Any(report => !report.Success) ? ExitCode.Failure : ExitCode.Success;
    }
}
