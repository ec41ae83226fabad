using Kit.Endpoints.Bare.SqlServer;

namespace Kit.Tests.SqlServer;

/// <summary>A sender refuses a transaction that is elsewhere than its queues: a table of the queue's name could be there, and nobody would receive.</summary>
[Parallelizable]
public sealed class TransactionOfAnotherServer
{
    private static readonly SqlServerMessageSender Sender = new("Server=db1,1433;Database=app;User ID=kit;Password=secret", json: null);

    [TestCase("db1,1433", "app")]
    [TestCase("DB1,1433", "App")]
    public void That_of_the_queues_is_taken(string server, string database) => Assert.That(() => Sender.Require(server, database), Throws.Nothing);

    [TestCase("db2,1433", "app", "is on server 'db2,1433', but the sender's connection string names 'db1,1433'")]
    [TestCase("db1,1433", "other", "is in database 'other', but the sender's connection string names 'app'")]
    public void Another_is_refused(string server, string database, string reason) => Assert.That(
        () => Sender.Require(server, database), Throws.TypeOf<NotSupportedException>().With.Message.Contains(reason));
}
