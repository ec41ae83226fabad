using Kit.Prove.Files;
using Npgsql;

namespace Kit.Tests.Proofs;

public sealed class TextsWithPlaceholders
{
    [TestCase("postgres://{{postgresql:orders:host}}/", ExpectedResult = true)]
    [TestCase("{{postgresql:orders}}", ExpectedResult = true)]
    [TestCase("{{postgresql:orders2}}", ExpectedResult = false)]
    [TestCase("{{postgresql:orders2:uri}}", ExpectedResult = false)]
    [TestCase("postgresql:orders", ExpectedResult = false)]
    public bool Name_a_server_by_its_whole_name(string text) => Placeholders.NameServer(text, "postgresql:orders");

    /// <summary>No client resolves it with the brackets of an address.</summary>
    [Test]
    public void Have_the_address_of_a_broker_as_a_host() => Assert.That(
        Placeholders.Of(
            new Dictionary<string, NpgsqlConnectionStringBuilder>(), new Uri("amqp://u:p@[::1]:5672/v"), new Dictionary<string, int>(),
            new Uri("http://localhost"), applicationPort: 0).Fill("{{rabbitmq:host}} {{rabbitmq}}"),
        Is.EqualTo("::1 amqp://u:p@[::1]:5672/v"));
}
