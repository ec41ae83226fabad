using Kit.Runner.Servers;
using Orders;

namespace Kit.Tests.Samples;

/// <summary>Settings of the sample that cannot be used: each has its own message, of one line.</summary>
public sealed class SampleSettings
{
    private const string Broker = "amqp://localhost";

    // Nothing listens on port 1.
    private const string NoServer = "Host=127.0.0.1;Port=1;Username=nobody";

    [TestCase(
        "There is no framework 'carrier-pigeon'. Frameworks: bare, masstransit, nservicebus, rebus, wolverine.",
        "--Framework", "carrier-pigeon")]
    [TestCase(
        "There is no mode 'sometimes'. Modes: full-dtc, dtc-off, scope-off, transactions-off, " +
        "full-dtc-waiting, full-dtc-promoted, npgsql-scope, shared, outbox.",
        "--Mode", "sometimes")]
    [TestCase(
        "The setting 'Queues' is not the address of a broker. Expected: amqp://user:password@host/vhost.",
        "--Framework", "masstransit", "--Queues", "Host=localhost;Password=secret")]
    [TestCase(
        "The setting 'Data' is not a PostgreSQL connection string: Couldn't set sarver (Parameter 'sarver')",
        "--Data", "Sarver=localhost")]
    [TestCase(
        "The framework 'masstransit' cannot run in full-dtc: AMQP 0-9-1 transactions belong to one channel and have no prepare, " +
        "so an acknowledgement cannot commit together with a database.",
        "--Framework", "masstransit", "--Queues", Broker, "--Mode", "full-dtc")]
    [TestCase(
        "In shared, the settings 'Queues' and 'Data' must be one connection string, because queue and orders are in one database. " +
        "Give both: --Queues \"…\" --Data \"…\".",
        "--Mode", "shared")]
    [TestCase(
        "In outbox, the settings 'Queues' and 'Data' must be one connection string, because queue and orders are in one database. " +
        "Give both: --Queues \"…\" --Data \"…\".",
        "--Framework", "wolverine", "--Mode", "outbox")]
    [TestCase("The setting 'SendsAtStart' is 'maybe'. Expected: true or false.", "--SendsAtStart", "maybe")]
    [TestCase("The setting 'SendOnly' is '5'. Expected: the id of an order, a UUID.", "--SendOnly", "5")]
    [TestCase(
        "The setting 'SendOnly' is for the framework 'bare': the others send only while their endpoint runs.",
        "--SendOnly", "01a20d7f-8a12-75da-8db4-74d0ece26a87", "--Framework", "masstransit", "--Queues", Broker)]
    public void Are_refused_with_what_was_expected(string message, params string[] arguments) => Assert.That(
        () => new OrdersApplication(arguments), Throws.TypeOf<SettingsException>().With.Message.EqualTo(message));

#if !KIT_NSERVICEBUS
    [Test]
    public void A_framework_that_was_not_found_is_named_with_its_packages() => Assert.That(
        () => new OrdersApplication(["--Framework", "nservicebus"]),
        Throws.TypeOf<SettingsException>().With.Message.StartsWith("The framework 'nservicebus' is not built in: ")
            .And.Message.Contains("NServiceBus.Transport.PostgreSql"));
#endif

    [TestCase("error: There is no mode 'sometimes'.", "--Mode", "sometimes")]
    [TestCase("error: In shared, the settings 'Queues' and 'Data' must be one connection string", "--Mode", "shared")]
    [TestCase(
        "error: The endpoint cannot start in dtc-off with these settings: Failed to connect to ",
        "--Queues", NoServer, "--Data", NoServer)]
    public async Task End_the_program_with_one_line_and_a_code_of_their_own(string error, params string[] arguments)
    {
        var sample = new ExternalProgram(Path.Combine(AppContext.BaseDirectory, ExternalProgram.FileNameOf("Orders")));

        var result = await sample.RunAsync(arguments, CancellationToken.None);

        Assert.That(result.ExitCode, Is.EqualTo(2));
        Assert.That(result.Output, Does.StartWith(error).And.Not.Contain("\n"));
    }

#if KIT_NSERVICEBUS
    [Test]
    public void An_outbox_without_a_persistence_is_refused() => Assert.That(
        () => new OrdersApplication(["--Framework", "nservicebus", "--Mode", "outbox"]),
        Throws.TypeOf<SettingsException>().With.Message.StartsWith("On NServiceBus, outbox needs a persistence"));
#endif
}
