using Kit.Endpoints.Bare.SqlServer;
using Kit.Modes;
using Kit.Runner.Servers;

namespace Kit.Tests.Bare;

/// <summary>What is true of SQL Server without one, and without its driver.</summary>
[Parallelizable]
public sealed class SqlServerWithoutAServer
{
    private static readonly QueueStatements Statements = new("a]queue");

    [Test]
    public void The_receive_deletes_the_first_row_that_nobody_has_locked() => Assert.That(
        string.Join(' ', Statements.Receive.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)),
        Is.EqualTo(
            "WITH first AS ( SELECT TOP (1) position, message_id, type, body, failed_attempts, headers " +
            "FROM [a]]queue] WITH (READPAST, ROWLOCK, UPDLOCK, READCOMMITTEDLOCK) " +
            "WHERE not_before <= sysutcdatetime() OR not_before > dateadd(millisecond, 16000, sysutcdatetime()) ORDER BY position) " +
            "DELETE FROM first OUTPUT deleted.position, deleted.message_id, deleted.type, deleted.body, deleted.failed_attempts, deleted.headers"));

    [Test]
    public void The_queue_is_clustered_by_its_identity() =>
        Assert.That(
            Statements.Create,
            Does.Contain("IF OBJECT_ID(N'[a]]queue]') IS NULL\nCREATE TABLE [a]]queue] (")
                .And.Contain("position bigint IDENTITY(1, 1) NOT NULL PRIMARY KEY CLUSTERED"));

    [Test]
    public void A_retry_goes_back_to_its_own_place() =>
        Assert.That(Statements.Requeue, Does.StartWith("SET IDENTITY_INSERT [a]]queue] ON;").And.EndsWith("SET IDENTITY_INSERT [a]]queue] OFF"));

    [Test]
    public void The_right_that_this_needs_is_asked_for() =>
        Assert.That(Statements.MayRequeue, Is.EqualTo("SELECT coalesce(HAS_PERMS_BY_NAME(N'[a]]queue]', 'OBJECT', 'ALTER'), 0)"));

    [Test]
    public void A_publish_is_one_unit_where_no_transaction_is_open() => Assert.That(
        string.Join(' ', SubscriptionStatements.Publish.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)),
        Does.Contain("SET XACT_ABORT ON; DECLARE @own bit = CASE WHEN @@TRANCOUNT = 0 THEN 1 ELSE 0 END; BEGIN TRY IF @own = 1 BEGIN TRANSACTION;")
            .And.EndsWith("END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; THROW; END CATCH"));

    [Test]
    public void Looks_from_outside_wait_for_no_lock() => Assert.That(
        new[] { Statements.Count, Statements.ReadMessages, Statements.ReadBodySize, Statements.ReadErrors },
        Has.All.StartsWith("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT"));

    [Test]
    public void A_name_that_leaves_no_room_for_the_error_table_is_refused() =>
        Assert.That(() => new QueueStatements(new string('q', 121)), Throws.ArgumentException.With.Message.Contains("longer than 120 characters"));

    [TestCase("full-dtc", null, null)]
    [TestCase("dtc-off", null, null)]
    [TestCase("scope-off", null, null)]
    [TestCase("transactions-off", null, null)]
    [TestCase("full-dtc-promoted", null, "a transaction over two connections is promoted to MSDTC, which .NET supports only on Windows")]
    [TestCase(
        "full-dtc-waiting", "only on PostgreSQL is there a second phase that the kit could wait for",
        "only on PostgreSQL is there a second phase that the kit could wait for")]
    [TestCase("npgsql-scope", "Npgsql is PostgreSQL's driver", "Npgsql is PostgreSQL's driver")]
    public void Supported_or_the_reason_why_not(string mode, string? onWindows, string? elsewhere)
    {
        Assert.That(SqlServerSupport.Of(TransactionMode.Parse(mode), SqlServerSupport.PromotionOn(isWindows: true)).Because, Is.EqualTo(onWindows));
        Assert.That(SqlServerSupport.Of(TransactionMode.Parse(mode), SqlServerSupport.PromotionOn(isWindows: false)).Because, Is.EqualTo(elsewhere));
    }

    /// <summary>It can run on another machine.</summary>
    [Test]
    public void Windows_is_missing_where_a_promotion_needs_it() => Assert.That(SqlServerSupport.PromotionOn(isWindows: false).IsMissing);

    [Test]
    public void The_password_is_masked() =>
        Assert.That(
            ConnectionStrings.Mask("Server=db1,1433;User ID=kit;Pwd=hidden;TrustServerCertificate=true"),
            Does.Contain("Pwd=***").And.Not.Contain("hidden"));
}
