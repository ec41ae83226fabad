using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

public sealed class ConnectionStringsTests
{
    [TestCase("Host=h;Username=u;Password=secret", "Host=h;Username=u;Password=***")]
    [TestCase("host=h;PWD=secret", "Host=h;Pwd=***")]
    [TestCase("Host=h;Psw=secret;Port=1", "Host=h;Psw=***;Port=1")]
    [TestCase("Host=h;Password=\"sec;ret\";Port=1", "Host=h;Password=***;Port=1")]
    [TestCase("Host=h;Password='sec\"ret'", "Host=h;Password=***")]
    [TestCase("Host=h;SSL Password=secret", "Host=h;Ssl Password=***")]
    [TestCase("Host=h", "Host=h")]
    [TestCase("", "")]
    [TestCase("Host=h;Password=\"secret", "(a connection string that cannot be read)")]
    [TestCase("postgres://u:secret@h/db", "(a connection string that cannot be read)")]
    [TestCase("amqp://u:secret@h:5672/v", "amqp://u:***@h:5672/v")]
    [TestCase("AMQPS://u:secret@h", "AMQPS://u:***@h")]
    [TestCase("amqp://u:sec%2Fret@h/%2F", "amqp://u:***@h/%2F")]
    [TestCase("amqp://u:12/secret@h/v", "amqp://u:***@h/v")]
    [TestCase("amqp://u:sec/ret@h/v", "(a connection string that cannot be read)")]
    [TestCase("amqp://u:sec@ret@h/v", "(a connection string that cannot be read)")]
    [TestCase("amqp://u:secret@h/v?cacertfile=x&password=secret", "amqp://u:***@h/v")]
    [TestCase("amqp://u@h", "amqp://u@h")]
    [TestCase("amqp://h:1/v", "amqp://h:1/v")]
    [TestCase("amqp://u:secret", "(a connection string that cannot be read)")]
    public void Passwords_are_masked(string connectionString, string expected) =>
        Assert.That(ConnectionStrings.Mask(connectionString), Is.EqualTo(expected));
}
