using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Handlers;

namespace Kit.Tests.SqlServer;

/// <summary>The text of a send in full-dtc: where the server has ended the transaction, the driver would commit it alone.</summary>
[Parallelizable]
public sealed class SendsInAScope
{
    private static readonly OutgoingMessage Event = OutgoingMessage.CreateEvent(new WidgetReady(Guid.Empty), Guid.NewGuid());
    private static readonly OutgoingMessage Command = OutgoingMessage.Create("orders", new WidgetReady(Guid.Empty), Guid.NewGuid(), json: null);

    [Test]
    public void Begin_with_the_question_whether_there_is_a_transaction()
    {
        foreach (var message in new[] { Command, Event })
        {
            using var alone = MessageCommands.Send(message);
            using var enlisted = MessageCommands.Send(message, isEnlisted: true);

            Assert.That(alone.CommandText, Does.Not.Contain("THROW 50000, N'The server has ended"));
            Assert.That(
                enlisted.CommandText,
                Is.EqualTo(
                    "IF @@TRANCOUNT = 0 THROW 50000, N'The server has ended the transaction of the receive, so nothing is sent.', 1; " + alone.CommandText));
        }
    }
}
