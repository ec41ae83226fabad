using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler leaves a search path on which each table of the widgets' database is hidden by another one of its name.</summary>
internal sealed class SettingsLeft : OneMessage
{
    /// <summary>The schema in front of the others.</summary>
    private const string Decoys = "decoys";

    public override HandlerScript Script { get; } = new(ScriptedAct.Always(AttemptPoint.AfterSecondInsert, new LeaveSearchPath()));

    // An empty table for each one that the endpoint and its handler have, with its name and its columns. Now the endpoint has created all its tables.
    protected override Task ArmAsync(FaultScene scene, CancellationToken cancellationToken) => scene.Testbed.Database.ExecuteAsync(
        $"""
        CREATE SCHEMA {Decoys};
        DO $$
        DECLARE
            name text;
        BEGIN
            FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                EXECUTE format('CREATE TABLE {Decoys}.%1$I (LIKE public.%1$I INCLUDING ALL)', name);
            END LOOP;
        END $$;
        """,
        cancellationToken);

    internal sealed record LeaveSearchPath : HandlerAct
    {
        // The transaction's own setting hides the session's, which stays when the transaction has committed.
        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            const string path = $"search_path TO {Decoys}, public";
            await using var command = attempt.Connection.CreateCommand();
            command.CommandText = $"SET {path}; SET LOCAL {path}";
            await command.ExecuteNonQueryAsync(cancellationToken);
            attempt.Fault($"has executed {command.CommandText}");
        }
    }
}
