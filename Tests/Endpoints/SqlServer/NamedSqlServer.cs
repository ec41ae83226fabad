using System.Security.Authentication;
using Kit.Runner.Results;
using Kit.Runner.Stage.SqlServer;
using Kit.Runner.Stage.Transports;
using NUnit.Framework.Constraints;

namespace Kit.Tests.SqlServer;

/// <summary>A SQL Server that is named and does not do: said in one line, without its password.</summary>
[Parallelizable]
public sealed class NamedSqlServer
{
    private const string Secret = "hidden-word";

    [Test]
    public void Unreadable() => Assert.That(
        () => SqlServerFacts.ReadAsync($"Server=h;Pasword={Secret}", CancellationToken.None),
        Throws.TypeOf<KitException>().With.Message.EqualTo("The SQL Server connection string cannot be read."));

    [Test]
    public void Without_a_server() => Assert.That(
        () => SqlServerFacts.ReadAsync($"User ID=kit;Password={Secret}", CancellationToken.None),
        Throws.TypeOf<KitException>().With.Message.EqualTo("The SQL Server connection string cannot be read."));

    /// <summary>The driver tries until the limit that the kit gives it. What its error becomes, <see cref="Other_refusals"/> shows.</summary>
    [Test]
    [Exhaustive]
    public void Out_of_reach() => Assert.That(
        () => SqlServerFacts.ReadAsync($"Server=127.0.0.1,1;User ID=kit;Password={Secret}", CancellationToken.None),
        Throws.TypeOf<KitException>().With.Message.EqualTo("The SQL Server is out of reach: kit at 127.0.0.1,1."));

    [TestCase(18456, "Wrong login or password: kit at db1.")]
    [TestCase(4060, "The server has no such database, or the login may not use it: kit at db1.")]
    [TestCase(-2, "The SQL Server is out of reach: kit at db1.")]
    [TestCase(701, "The server answered with an error: kit at db1: told (701)")]
    public void Other_refusals(int number, string message) =>
        Assert.That(SqlServerFacts.Explain(number, new InvalidOperationException("told"), "kit at db1").Message, Is.EqualTo(message));

    [Test]
    public void Certificate() => Assert.That(
        SqlServerFacts.Explain(20, new InvalidOperationException("told", new AuthenticationException()), "kit at db1").Remedy,
        Does.Contain("TrustServerCertificate"));

    [Test]
    public async Task A_run_that_it_refuses_says_at_which_step()
    {
        await using var away = new SqlServerInUse(
            new SqlServerWithDriver(), $"Server=127.0.0.1,1;User ID=kit;Password={Secret};Connect Timeout=3;Connect Retry Count=0");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(() => away.SeedAsync(1, new Progress<int>(), default), Fails("The rows with which each round begins could not be seeded"));
            Assert.That(() => away.RestoreAsync(default), Fails("The databases of a round could not be made"));
            Assert.That(() => away.CreateEmptyAsync(default), Fails("The databases of a probe could not be made"));
        }
    }

    [TestCase("14.0.1000.169", true, 0)]
    [TestCase("13.0.1601.5", true, 1)]
    [TestCase("16.0.1000.6", false, 1)]
    public void What_a_run_needs(string version, bool mayCreate, int problems) =>
        Assert.That(
            new SqlServerFacts("kit at db1", version, "Developer Edition", mayCreate).Findings().Count(finding => finding.IsFatal),
            Is.EqualTo(problems));

    private static ContainsConstraint Fails(string step) =>
        Throws.TypeOf<KitException>().With.Message.StartsWith($"{step}: A network-related").And.Message.Not.Contain(Secret);
}
