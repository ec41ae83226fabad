namespace Kit.Runner.Faults.Injections;

/// <summary>A deferred constraint of the widgets' table fails once, for the chosen message.</summary>
internal sealed class FailedCommit : OneMessage
{
    protected override Task ArmAsync(FaultScene scene, CancellationToken cancellationToken) => scene.Testbed.Database.ExecuteAsync(
        // It fails one commit: sequences are not rolled back.
        $"""
        CREATE SEQUENCE commits_failed;
        CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF nextval('commits_failed') = 1 THEN
                RAISE EXCEPTION 'The experiment wants this commit to fail.' USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER fail_commit AFTER INSERT ON widget DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.message_id = '{scene.Chosen}') EXECUTE FUNCTION fail_commit();
        """,
        cancellationToken);

    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var hasFailed = await scene.UntilAsync(
            () => scene.Testbed.Database.AskAsync<bool>("SELECT is_called FROM commits_failed", cancellationToken), cancellationToken);
        if (hasFailed)
            scene.Tell("the constraint failed once");
        return hasFailed;
    }
}
