using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>
/// The statements of subscriptions: a table that says which queue has subscribed to which type of event, and a procedure that inserts an event into each
/// subscriber's queue. So a publish is one round trip, in the transaction of a send, and no publisher keeps subscriptions that can be out of date.
/// </summary>
internal static class SubscriptionStatements
{
    private const string Table = "kit_subscription";

    private const string Procedure = "kit_publish";

    public const string IsMissing = $"SELECT to_regclass('{Table}') IS NULL OR to_regproc('{Procedure}') IS NULL";

    /// <summary>Creates both, under a lock: two processes that start together would both create them.</summary>
    public const string Create =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit subscriptions'));
        CREATE TABLE IF NOT EXISTS {Table} (
            type text NOT NULL,
            queue text NOT NULL,
            PRIMARY KEY (type, queue));
        CREATE OR REPLACE PROCEDURE {Procedure} (event_type text, event_id uuid, event_body bytea, event_headers text) LANGUAGE plpgsql AS $procedure$
        DECLARE
            subscriber text;
            published boolean := false;
        BEGIN
            FOR subscriber IN SELECT queue FROM {Table} WHERE type = event_type ORDER BY queue LOOP
                EXECUTE format('INSERT INTO %I (message_id, type, body, headers) VALUES ($1, $2, $3, $4)', subscriber)
                USING event_id, event_type, event_body, event_headers;
                published := true;
            END LOOP;
            IF NOT published THEN
                RAISE no_data_found USING MESSAGE = format('No queue has subscribed to %s.', event_type), HINT = 'Subscribe one before events are published.';
            END IF;
        END
        $procedure$;
        """;

    public const string CanBeRead = $"SELECT coalesce(has_table_privilege(to_regclass('{Table}'), 'SELECT'), false)";

    public const string ReadAll = $"SELECT type, queue FROM {Table}";

    public static NpgsqlBatchCommand Subscribing(string type, string queue) =>
        PostgreSqlStatement.Of($"INSERT INTO {Table} (type, queue) VALUES ($1, $2) ON CONFLICT DO NOTHING", type, queue);

    // A call returns no rows, so that a batch can read what follows it.
    public static NpgsqlBatchCommand Publishing(OutgoingMessage message) =>
        PostgreSqlStatement.Of(
            $"CALL {Procedure}($1, $2, $3, $4)", message.Type, message.MessageId, message.Body, MessageHeaders.Write(message.Headers));
}
