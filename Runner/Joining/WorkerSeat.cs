using Npgsql;

namespace Kit.Runner.Joining;

/// <summary>The place of a worker in a run.</summary>
/// <param name="Number">The number of the worker.</param>
/// <param name="Run">The run, for a reader.</param>
/// <param name="Database">Connection string of the run's database for its workers.</param>
/// <param name="Listening">The session that proves that the worker is there. It is woken when the run has a line.</param>
internal sealed record WorkerSeat(int Number, string Run, string Database, NpgsqlConnection Listening);
