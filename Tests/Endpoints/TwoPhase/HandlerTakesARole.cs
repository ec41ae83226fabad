using Kit.Modes;

namespace Kit.Tests.TwoPhase;

/// <summary>A handler that works under a tenant's role, as row-level security needs it. The endpoint's role is a member of it, and no superuser.</summary>
[Parallelizable]
public sealed class HandlerTakesARole
{
    private static IEnumerable<TransactionMode> TwoPhaseModes => [TransactionMode.FullDtc, TransactionMode.FullDtcWaiting];

    [TestCaseSource(nameof(TwoPhaseModes))]
    public async Task Its_branches_are_ended_by_their_second_phase(TransactionMode mode)
    {
        await using var bench = await TwoPhaseBench.CreateAsync();
        await using var roles = await TwoRoles.CreateAsync(bench.Databases.Widgets);
        await roles.GrantAsync();
        await TestDatabases.ExecuteAsync(
            bench.Databases.Widgets,
            $"""
            CREATE TABLE inserted (by_role text NOT NULL);
            GRANT INSERT ON inserted TO {roles.NameBefore};
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO inserted VALUES (current_user); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER noted AFTER INSERT ON widget DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()
            """);
        await bench.EnqueueAsync(5);
        await bench.StartAsync(
            mode, concurrency: 1,
            async (context, cancellationToken) =>
            {
                await TwoPhaseBench.ExecuteAsync(await context.GetConnectionAsync(cancellationToken), $"SET LOCAL ROLE {roles.NameBefore}");
                await TwoPhaseBench.InsertAsync(context, cancellationToken);
            },
            bench.Databases.Queue, roles.After);

        await bench.DrainedAsync();
        await bench.StopAsync();

        Assert.That(bench.Log, Has.None.Contains("left to recovery"));
        Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
        var tenants = $"SELECT count(*)::int FROM inserted WHERE by_role = '{roles.NameBefore}'";
        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Widgets, tenants), Is.EqualTo(5), "deferred triggers run as the tenant");
    }
}
