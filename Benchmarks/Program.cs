using System.CommandLine;
using Kit.Benchmarks.Floor;
using Kit.Benchmarks.Harness;
using Kit.Benchmarks.Latencies;
using Kit.Benchmarks.Micro;
using Kit.Benchmarks.Seeding;
using Kit.Benchmarks.Waits;
using Kit.Runner.CommandLine;
using Kit.Runner.Rounds;

// The runner starts its handler process from its own program, which is this one.
if (args is [.., HandlerProcess.Command])
    return await new HandlerProgram(Console.In, Console.Out).RunAsync();
if (args is [.., UnwatchedProgram.Command])
    return await UnwatchedProgram.RunAsync();

return await Invocation.RunAsync(
    new RootCommand("""
        Measures what the comparison rests on: how near the bare endpoint is to the floor, and what the kit's own work costs.
        Each program starts a PostgreSQL server of its own and removes it at the end.

        Examples:
          floor                      bare transactions-off against pgbench, five rounds
          seeding                    a million rows, against psql \copy
          harness                    a drain with and without the runner's work during it
          waits --cells bare.postgresql.full-dtc.ado.last      what its sessions wait for
          latency                    what 'load' finds against pgbench and SQL
          bdn                        BenchmarkDotNet: inserts, messages, ids and bodies
        """)
    {
        new FloorCommand(),
        new SeedingCommand(),
        new HarnessCommand(),
        new WaitsCommand(),
        new LatencyCommand(),
        new MicroCommand(),
    },
    args);
