using System.Text;
using Kit.Modes;
using Weasel.Postgresql;

namespace Kit.Endpoints.Cells;

/// <summary>The names of Wolverine's queues and tables in PostgreSQL.</summary>
internal static class WolverineNames
{
    /// <summary>The schema of all its tables: that of the widgets, where the kit looks for tables.</summary>
    public const string Schema = "public";

    public const string Inbox = "wolverine_incoming_envelopes";

    public const string Outbox = "wolverine_outgoing_envelopes";

    public const string DeadLetters = "wolverine_dead_letters";

    private static readonly string ErrorSuffix = ErrorQueue.Of("");

    /// <summary>A queue's name as Wolverine can have it, in statements without quotation marks.</summary>
    public static string QueueOf(string name)
    {
        var text = new StringBuilder(name.Length);
        foreach (var letter in name)
            text.Append(char.IsAsciiLetterOrDigit(letter) ? char.ToLowerInvariant(letter) : '_');
        return text.ToString();
    }

    /// <summary>The queue whose dead letters these are; <see langword="null"/> if the name is that of a queue of messages.</summary>
    public static string? EndpointOf(string errorQueue) =>
        errorQueue.EndsWith(ErrorSuffix, StringComparison.Ordinal) ? errorQueue[..^ErrorSuffix.Length] : null;

    /// <summary>The address of a queue.</summary>
    public static Uri AddressOf(string name) => new($"postgresql://{QueueOf(name)}");

    /// <summary>The table of a queue.</summary>
    public static string TableOf(string name) => PostgresqlIdentifier.Shorten($"wolverine_queue_{QueueOf(name)}");

    /// <summary>The table of a queue's messages that wait: those that could not be written to the dead letters, which Wolverine handles again later.</summary>
    public static string LaterTableOf(string name) => PostgresqlIdentifier.Shorten($"wolverine_queue_{QueueOf(name)}_scheduled");

    /// <summary>The statements that create a queue's tables, if they are missing: one for its messages, and one for those that are scheduled.</summary>
    public static string CreateQueue(string name)
    {
        var (table, later) = (TableOf(name), LaterTableOf(name));
        return
            $"""
             CREATE TABLE IF NOT EXISTS {Schema}.{table} (
                 id uuid CONSTRAINT pkey_{table}_id PRIMARY KEY,
                 body bytea NOT NULL,
                 message_type varchar NOT NULL,
                 keep_until timestamptz,
                 "timestamp" timestamptz DEFAULT now());
             CREATE INDEX IF NOT EXISTS {PostgresqlIdentifier.Shorten($"idx_{table}_timestamp")} ON {Schema}.{table} ("timestamp");
             CREATE TABLE IF NOT EXISTS {Schema}.{later} (
                 id uuid CONSTRAINT pkey_{later}_id PRIMARY KEY,
                 body bytea NOT NULL,
                 message_type varchar NOT NULL,
                 execution_time timestamptz NOT NULL,
                 keep_until timestamptz,
                 "timestamp" timestamptz DEFAULT now());
             CREATE INDEX IF NOT EXISTS {PostgresqlIdentifier.Shorten($"idx_{later}_execution_time")} ON {Schema}.{later} (execution_time)
             """;
    }
}
