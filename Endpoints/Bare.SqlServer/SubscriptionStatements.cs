namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>
/// The statements of subscriptions: a table that says which queue has subscribed to which type of event. A publish reads it and inserts the event into each
/// subscriber's queue. So it is one round trip, in the transaction of a send, and no publisher keeps subscriptions that can be out of date.
/// </summary>
internal static class SubscriptionStatements
{
    /// <summary>Creates the table if it is missing, under a lock, and adds a subscription to it.</summary>
    public const string Subscribe =
        """
        SET XACT_ABORT ON;
        BEGIN TRANSACTION;
        EXEC sp_getapplock @Resource = 'kit subscriptions', @LockMode = 'Exclusive';
        IF OBJECT_ID(N'kit_subscription') IS NULL
        CREATE TABLE kit_subscription (
            type nvarchar(400) NOT NULL,
            queue nvarchar(128) NOT NULL,
            PRIMARY KEY (type, queue));
        INSERT INTO kit_subscription (type, queue)
        SELECT @type, @queue WHERE NOT EXISTS (SELECT 1 FROM kit_subscription WHERE type = @type AND queue = @queue);
        COMMIT TRANSACTION
        """;

    public const string CanBeRead = "SELECT coalesce(HAS_PERMS_BY_NAME(N'kit_subscription', 'OBJECT', 'SELECT'), 0)";

    public const string ReadAll = "SELECT type, queue FROM kit_subscription";

    public const string Add = "INSERT INTO kit_subscription (type, queue) VALUES (@type, @queue)";

    /// <summary>
    /// Publishes an event to every subscriber or to none: in the caller's transaction, which a failure rolls back, or, where there is none, in one of its
    /// own. <c>XACT_ABORT</c> rolls it back also if the client gives the command up, which <c>CATCH</c> does not see. The setting ends with the command.
    /// </summary>
    public const string Publish =
        """
        DECLARE @inserts nvarchar(max), @unrouted nvarchar(500);
        SELECT @inserts = STRING_AGG(
            CAST(
                N'INSERT INTO ' + QUOTENAME(queue) + N' (message_id, type, body, headers) VALUES (@message_id, @type, @body, @headers);' AS nvarchar(max)),
            N' ') WITHIN GROUP (ORDER BY queue)
        FROM kit_subscription WHERE type = @type;
        IF @inserts IS NULL
        BEGIN
            SET @unrouted = N'No queue has subscribed to ' + @type + N'. Subscribe one before events are published.';
            THROW 50000, @unrouted, 1;
        END;
        SET XACT_ABORT ON;
        DECLARE @own bit = CASE WHEN @@TRANCOUNT = 0 THEN 1 ELSE 0 END;
        BEGIN TRY
            IF @own = 1 BEGIN TRANSACTION;
            EXEC sp_executesql @inserts, N'@message_id uniqueidentifier, @type nvarchar(400), @body varbinary(max), @headers nvarchar(max)',
                @message_id, @type, @body, @headers;
            IF @own = 1 COMMIT TRANSACTION;
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
            THROW;
        END CATCH
        """;
}
