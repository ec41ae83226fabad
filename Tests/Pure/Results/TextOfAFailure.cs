using Kit.Runner.Results;
using Npgsql;

namespace Kit.Tests.Results;

/// <summary>A failure in one line, as commands and tables show it.</summary>
public sealed class TextOfAFailure
{
    [Test]
    public void A_drivers_failure_is_told_with_its_causes() => Assert.That(
        KitException.TextOf(new NpgsqlException("Exception while reading from stream", new TimeoutException("Timeout during reading attempt"))),
        Is.EqualTo("Exception while reading from stream: Timeout during reading attempt"));

    [Test]
    public void A_cause_that_is_in_the_message_is_told_once() => Assert.That(
        KitException.TextOf(new NpgsqlException("Failed: too late", new TimeoutException("too late", new IOException("Broken pipe")))),
        Is.EqualTo("Failed: too late: Broken pipe"));

    /// <summary>Its message was made for a reader.</summary>
    [Test]
    public void Another_library_says_all_in_its_message() => Assert.That(
        KitException.TextOf(new InvalidOperationException("The broker refused it.", new IOException("Already closed"))), Is.EqualTo("The broker refused it."));

    [Test]
    public void The_kits_own_has_its_remedy_instead() => Assert.That(
        KitException.TextOf(new KitException("The server is away.", "Start it.", new IOException("Broken pipe"))), Is.EqualTo("The server is away. Start it."));
}
