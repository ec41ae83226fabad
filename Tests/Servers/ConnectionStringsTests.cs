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
    public void Passwords_are_masked(string connectionString, string expected) =>
        Assert.That(ConnectionStrings.Mask(connectionString), Is.EqualTo(expected));
}
