using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>The commit of a receive fails once, after the handler has returned and its sends were written.</summary>
[Parallelizable]
public sealed class QueueRefusesACommit
{
    /// <summary>A roll-back does not reset the sequence, so the second commit succeeds.</summary>
    private const string RefusedOnce =
        """
        CREATE SEQUENCE refused;
        CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN IF nextval(''refused'') = 1 THEN RAISE EXCEPTION ''refused once''; END IF; RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER refusing AFTER DELETE ON work DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_once();
        """;

    [ModeSource(nameof(ModesWithATransaction))]
    public async Task The_sends_are_rolled_back_with_the_receive(TransactionMode mode)
    {
        await using var bench = await BareBench.CreateAsync();
        await using var next = new PostgreSqlQueue(bench.Databases.QueueOf(mode), "next");
        await next.CreateAsync(CancellationToken.None);
        await TestDatabases.ExecuteAsync(bench.Databases.QueueOf(mode), RefusedOnce);
        var handled = 0;

        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            handled++;
            await BareBench.InsertWidgetAsync(context, cancellationToken);
            await context.SendAsync("next", "a send", cancellationToken: cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        Assert.That(handled, Is.EqualTo(2), "the commit failed once");
        await Eventually.HoldsAsync(async () => await next.CountAsync(CancellationToken.None) > 0, "the send has arrived");
        Assert.That(await next.CountAsync(CancellationToken.None), Is.EqualTo(1));
    }

    /// <summary>The outbox's send commits with its record, and its receive after that.</summary>
    private static IEnumerable<TransactionMode> ModesWithATransaction =>
        BareBench.Modes.Where(mode => mode != TransactionMode.TransactionsOff && mode != TransactionMode.Outbox);
}
