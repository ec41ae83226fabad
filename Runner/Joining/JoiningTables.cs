using Kit.Runner.Databases;

namespace Kit.Runner.Joining;

/// <summary>
/// The tables in which a run and its workers find each other: in a database that the run creates for them on the server of the widgets. They are
/// unlogged: what is written there during a drain waits for no flush.
/// </summary>
internal static class JoiningTables
{
    /// <summary>Another number: these tables or the lines in them have changed, and builds on both sides of the change do not understand each other.</summary>
    public const int Protocol = 1;

    /// <summary>Wakes the workers.</summary>
    public const string ToWorkers = "to_workers";

    /// <summary>Wakes the run.</summary>
    public const string ToRun = "to_run";

    /// <summary>How often each side looks without being woken, and says that it is there.</summary>
    public static readonly TimeSpan Look = TimeSpan.FromMilliseconds(500);

    /// <summary>How long a side may be silent, by the server's clock, before the other gives it up.</summary>
    public static readonly TimeSpan Silence = TimeSpan.FromSeconds(10);

    private const string Suffix = "_workers";

    /// <summary>In every protocol, a worker reads protocol, version, fingerprint, commit and dirty first, and writes into refused.</summary>
    public const string Create =
        """
        CREATE UNLOGGED TABLE run (
            protocol integer NOT NULL, version text NOT NULL, fingerprint text NOT NULL, commit text, dirty boolean NOT NULL,
            machine text NOT NULL, command text NOT NULL, transports text[] NOT NULL, workers integer NOT NULL,
            seen timestamptz NOT NULL DEFAULT clock_timestamp(), ended text);
        CREATE UNLOGGED TABLE refused (why text NOT NULL);
        CREATE UNLOGGED TABLE worker (
            number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, machine text NOT NULL, host text NOT NULL, session integer NOT NULL,
            seen timestamptz NOT NULL DEFAULT clock_timestamp(), ended text);
        CREATE UNLOGGED TABLE line (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, worker integer NOT NULL, process integer NOT NULL, from_worker boolean NOT NULL, text text);
        """;

    /// <summary>The name of a database for a run.</summary>
    public static string NewName() => $"{DatabaseOwner.NamePrefix}{Guid.NewGuid().ToString("N")[..8]}{Suffix}";

    /// <summary>A pattern for SQL that all of their names match.</summary>
    public static string Names => $"{DatabaseOwner.NamePrefix}%{Suffix}".Replace("_", @"\_", StringComparison.Ordinal);
}
