using Kit.Runner.Proofs;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.Proofs;

/// <summary>A file and an application that do not fit: one undisturbed message shows it, before any fault. The applications are shell commands.</summary>
[Parallelizable]
public sealed class ApplicationThatDoesNotFit
{
    private const string Sleeps = "sleep 300";

    /// <summary>The database itself handles the message, so that no application need.</summary>
    private const string HandlesInTheDatabase =
        "CREATE FUNCTION handle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO placed_order VALUES (NEW.id); RETURN NULL; END'; "
        + "CREATE TRIGGER handle AFTER INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION handle()";

    private ProofServers servers = null!;

    [OneTimeSetUp]
    public async Task StartServersAsync()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The application is a shell command.");
        servers = await ProofServers.StartAsync(ProofFileReader.Parse("orders.proof.json", new Case(Sleeps).Text), CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServersAsync()
    {
        if (servers is not null)
            await servers.DisposeAsync();
    }

    [Test]
    public Task It_ends_at_once() => IsRefusedAsync(
        new Case("echo no settings >&2; exit 3"), "the application ended with exit code 3 before it had handled a message.", "no settings");

    [Test]
    public Task There_is_no_such_program() => IsRefusedAsync(
        new Case(Sleeps) { Program = "no-such-program" }, "'no-such-program' cannot be started: there is no such program.", "search path");

    [Test]
    public Task It_handles_nothing() => IsRefusedAsync(
        new Case($"echo waiting; {Sleeps}"), "the application handled nothing: no effect of the first message", "waiting");

    [Test]
    public Task Its_effect_was_there_before() => IsRefusedAsync(
        new Case(Sleeps) { Setup = "INSERT INTO placed_order VALUES (gen_random_uuid())" },
        "effect 'row' was there 1 time before any message was sent.", "start");

    [Test]
    public Task It_is_never_idle() => IsRefusedAsync(
        new Case(Sleeps) { Setup = HandlesInTheDatabase, Idle = "SELECT 7" }, "the application was not idle: idle statement", "'idle'");

    [Test]
    public Task Its_effect_is_there_twice() => IsRefusedAsync(
        new Case(Sleeps) { Setup = HandlesInTheDatabase, Effect = "SELECT id FROM placed_order UNION ALL SELECT id FROM placed_order" },
        "an undisturbed message left behind 2 of 1 for effect 'row'.", "perMessage");

    [Test]
    public Task Its_effect_has_another_id() => IsRefusedAsync(
        new Case(Sleeps) { Setup = HandlesInTheDatabase, Effect = "SELECT id::text FROM placed_order UNION ALL SELECT 'mine' FROM placed_order" },
        "effect 'row' has something else than the id of the only message", "first column");

    [Test]
    public Task It_goes_around_the_proxy() => IsRefusedAsync(
        new Case(Sleeps) { Setup = HandlesInTheDatabase }, "the message was handled, but no request to 'orders' passed through the proxy.", "placeholder");

    [Test]
    public Task It_wants_to_encrypt() => IsRefusedAsync(
        new Case($"PGSSLMODE=require \"$PSQL\" \"${{DATABASE%sslmode=disable}}\" -c 'SELECT 1'; {Sleeps}"),
        "the application wants to encrypt its connection to 'orders'", "sslmode=disable");

    [Test]
    public Task A_statement_of_an_effect_fails() => IsRefusedAsync(
        new Case(Sleeps) { Effect = "SELEKT id" }, "the effect 'row' fails in database 'orders': syntax error", "SELEKT id");

    [Test]
    public Task A_statement_of_a_dead_letter_fails() => IsRefusedAsync(
        new Case(Sleeps) { DeadLetter = "SELEKT id" }, "the dead letter 'error' fails in database 'orders': syntax error", "SELEKT id");

    [Test]
    public Task It_gives_the_first_message_up() => IsRefusedAsync(
        new Case(Sleeps) { DeadLetter = "SELECT id FROM inbox" }, "although nothing disturbed it: it is a dead letter, 'error'",
        "Check how the message is sent");

    [Test]
    public Task The_table_of_an_effect_never_comes() => IsRefusedAsync(
        new Case(Sleeps) { Effect = "SELECT id FROM nothing" }, "relation \"nothing\" does not exist", "effects");

    [Test]
    public Task A_statement_of_idle_returns_no_number() => IsRefusedAsync(
        new Case(Sleeps) { Idle = "SELECT 'some'" }, "expected one number of the idle statement", "count(*)");

    [Test]
    public Task The_statement_of_send_is_none() => IsRefusedAsync(
        new Case(Sleeps) { Send = "INSURT {{id}}" }, "the statement of 'send' is wrong: syntax error at or near \"INSURT\"", "send.sql");

    /// <summary>Its first request has passed, and its handling has none.</summary>
    [Test]
    public async Task Its_handling_goes_around_the_proxy()
    {
        using var folder = new TemporaryFolder();
        var file = ProofFileReader.Parse(
            "orders.proof.json", new Case($"\"$PSQL\" \"$DATABASE\" -c 'SELECT 1'; {Sleeps}") { Setup = HandlesInTheDatabase }.Text);

        await Assert.ThatAsync(
            () => new ProofRun(new ProofPlan(file, folder.Path, Only: null, Budget: null), (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains("no request of their handling passed through the proxy").And.Property("IsUsage").True);
    }

    [Test]
    public Task A_statement_of_the_setup_fails() => IsRefusedAsync(
        new Case(Sleeps) { Setup = "CREATE TABEL x ()" }, "a statement of 'setup' fails in database 'orders': syntax error", "Correct");

    [Test]
    public async Task A_kill_ends_the_children_too()
    {
        var said = new TaskCompletionSource<string>();
        var program = new ProgramToStart(["/bin/sh", "-c", "(sleep 300 & echo $!) ; sleep 300"], ".", new Dictionary<string, string>());
        await using var process = ApplicationProcess.Start(program, Placeholders.Invented([], hasBroker: false), id: null, line => said.TrySetResult(line));
        var orphan = await said.Task.WaitAsync(TimeSpan.FromSeconds(30));

        Assert.That(await process.KillAsync(), Is.EqualTo(137));
        await Eventually.HoldsAsync(
            () => Task.FromResult(!File.Exists($"/proc/{orphan}/cmdline") || File.ReadAllText($"/proc/{orphan}/cmdline").Length == 0), "its child has ended");
    }

    private async Task IsRefusedAsync(Case one, string message, string remedy)
    {
        var file = ProofFileReader.Parse("orders.proof.json", one.Text);

        var refused = Assert.ThrowsAsync<KitException>(() => new Trial(file, servers, TimeSpan.FromSeconds(5)).RunAsync(CancellationToken.None));

        Assert.That(refused.Message, Does.Contain(message));
        Assert.That(refused.Remedy, Does.Contain(remedy));
        Assert.That(refused.IsUsage, Is.True);
    }

    private sealed record Case(string Script)
    {
        public string Program { get; init; } = "/bin/sh";

        public string Setup { get; init; } = "SELECT 1";

        public string Send { get; init; } = "INSERT INTO inbox VALUES ('{{id}}')";

        public string Effect { get; init; } = "SELECT id FROM placed_order";

        public string Idle { get; init; } = "SELECT 0";

        public string DeadLetter { get; init; } = "SELECT id FROM inbox WHERE false";

        public string Text => System.Text.Json.JsonSerializer.Serialize(new
        {
            name = "orders",
            databases = new[] { "orders" },
            setup = new { orders = new[] { "CREATE TABLE inbox (id uuid); CREATE TABLE placed_order (id uuid)", Setup } },
            start = new
            {
                command = new[] { Program, "-c", Script },
                environment = new { DATABASE = "{{postgresql:orders:uri}}", PSQL = Path.Combine(PostgreSqlBinaries.Folders().First(), "psql") },
            },
            send = new { sql = Send, database = "orders" },
            effects = new[] { new { name = "row", database = "orders", sql = Effect } },
            deadLetters = new[] { new { name = "error", database = "orders", sql = DeadLetter } },
            idle = new[] { new { database = "orders", sql = Idle } },
            promise = "exactly-once",
        });
    }
}
