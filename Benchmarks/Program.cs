using System.CommandLine;
using Kit.Benchmarks.Floor;
using Kit.Benchmarks.Latencies;
using Kit.Benchmarks.Micro;
using Kit.Benchmarks.Outside;
using Kit.Runner.Stage;
using Kit.Runner.Terminal;

// The runner starts its handler process from its own program, which is this one.
if (args is [.., HandlerProcess.Command])
    return await new HandlerProgram(Console.In, Console.Out).RunAsync();

return await Invocation.RunAsync(
    new RootCommand("""
        Measures what the comparison rests on: how near the bare endpoint is to the floor, and what a message is made of.
        Each program starts a PostgreSQL server of its own and removes it at the end.

        Examples:
          floor                      bare transactions-off against pgbench, five rounds
          latency                    what 'load' finds against pgbench and SQL
          outside --out FOLDER       one cell by 'run', and as a service by 'kit-prove drain'; with --rate by 'load'
          bdn                        BenchmarkDotNet: inserts, messages, ids and bodies
        """)
    {
        new FloorCommand(),
        new LatencyCommand(),
        new MicroCommand(),
        new OutsideCommand(),
        new ServeCommand(),
    },
    args,
    "dotnet run --project Benchmarks -c Release --");
