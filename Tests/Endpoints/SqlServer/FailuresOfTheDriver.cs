using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Microsoft.Data.SqlClient;

namespace Kit.Tests.SqlServer;

/// <summary>What an error of SQL Server's driver means for a message, as the same error of PostgreSQL's does.</summary>
[Parallelizable]
public sealed class FailuresOfTheDriver
{
    private static readonly FailureKinds Kinds = SqlClientErrors.KindsFor("orders", "widgets");

    [Test]
    public async Task A_session_that_is_lost_delays_the_next_attempt()
    {
        // Nobody listens there.
        await using var connection = new SqlConnection(
            "Server=127.0.0.1,1;User ID=kit;Password=plain;Connect Timeout=3;TrustServerCertificate=true");
        var lost = (await Assert.ThrowsAsync<SqlException>(() => connection.OpenAsync()))!;
        var rule = new RetryRule(TransactionMode.DtcOff, TimeSpan.FromSeconds(1), Kinds, delays: []);
        var message = new QueuedMessage(1, Guid.NewGuid(), "any", [], FailedAttempts: 0, MessageHeaders.None);

        Assert.That(Kinds.Of(new InvalidOperationException("wrapped", lost)), Is.EqualTo(FailureKind.SessionLost));
        Assert.That(rule.DelayAfter(message, lost), Is.GreaterThan(TimeSpan.Zero));
    }

    [TestCase(596, 21, FailureKind.SessionLost)]
    [TestCase(0, 20, FailureKind.SessionLost)]
    [TestCase(-2, 11, FailureKind.HandlerFailed)]
    [TestCase(1205, 13, FailureKind.HandlerFailed)]
    [TestCase(2627, 14, FailureKind.HandlerFailed)]
    [TestCase(40551, 16, FailureKind.HandlerFailed)]
    [TestCase(1105, 17, FailureKind.Refused)]
    [TestCase(9002, 17, FailureKind.Refused)]
    [TestCase(701, 17, FailureKind.Refused)]
    [TestCase(6005, 10, FailureKind.Refused)]
    [TestCase(40501, 20, FailureKind.Refused)]
    public void Its_kind(int number, byte severity, object kind) => Assert.That(Kinds.Of(Told(number, severity)), Is.EqualTo(kind));

    [TestCase("orders", FailureKind.Refused)]
    [TestCase("Widgets", FailureKind.Refused)]
    [TestCase("archive_of_orders", FailureKind.HandlerFailed)]
    public void A_read_only_database_is_waited_for_only_if_it_is_the_endpoints(string database, object kind) => Assert.That(
        Kinds.Of(Told(3906, 16, $"Failed to update database \"{database}\" because the database is read-only.")), Is.EqualTo(kind));

    [TestCase(-2, 11, true)]
    [TestCase(1222, 16, true)]
    [TestCase(1205, 13, false)]
    public void Whether_a_statement_waited_too_long(int number, byte severity, bool expected) =>
        Assert.That(Kinds.IsTimeout(Told(number, severity)), Is.EqualTo(expected));

    /// <summary>As the driver makes it of what the server says. It has no public way to.</summary>
    private static SqlException Told(int number, byte severity, string message = "told")
    {
        const BindingFlags Inner = BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;
        var errors = (SqlErrorCollection)Activator.CreateInstance(typeof(SqlErrorCollection), nonPublic: true)!;
        var error = typeof(SqlError).GetConstructors(Inner).OrderBy(one => one.GetParameters().Length).First();
        var given = new Dictionary<string, object?> { ["infoNumber"] = number, ["errorClass"] = severity, ["server"] = "db1", ["errorMessage"] = message };
        var arguments = error.GetParameters().Select(parameter =>
            given.GetValueOrDefault(parameter.Name!) ?? (parameter.ParameterType.IsValueType ? Activator.CreateInstance(parameter.ParameterType) : null));
        typeof(SqlErrorCollection).GetMethod("Add", Inner)!.Invoke(errors, [error.Invoke([.. arguments])]);
        var create = typeof(SqlException).GetMethods(Inner).Where(one => one.Name == "CreateException").OrderBy(one => one.GetParameters().Length).First();
        return (SqlException)create.Invoke(null, [errors, "16.0"])!;
    }
}
