using System.Globalization;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>A file and an application that do not fit: one undisturbed message shows it, before any fault. The applications are shell commands.</summary>
[Parallelizable]
public sealed class ApplicationThatDoesNotFit
{
    private const string Sleeps = "sleep 300";

    private static readonly TimeSpan OneMinute = TimeSpan.FromMinutes(1);

    /// <summary>The database itself handles the message, so that no application need.</summary>
    private const string HandlesInTheDatabase =
        "CREATE FUNCTION handle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO placed_order VALUES (NEW.id); RETURN NULL; END'; "
        + "CREATE TRIGGER handle AFTER INSERT ON inbox FOR EACH ROW EXECUTE FUNCTION handle()";

    private const string Handles =
        "while :; do \"$PSQL\" \"$DATABASE\" -c 'WITH taken AS (DELETE FROM inbox RETURNING id) INSERT INTO placed_order (id) SELECT id FROM taken'; "
        + "sleep 0.3; done";

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
        new Case("echo no settings >&2; exit 3"),
        "the application ended with exit code 3 before it had handled a message.", "no settings", OneMinute);

    [Test]
    public Task There_is_no_such_program() => IsRefusedAsync(
        new Case(Sleeps) { Program = "no-such-program" }, "'no-such-program' cannot be started: there is no such program.", "search path");

    /// <summary>What it prints comes before the table of its messages, and so before it can have any.</summary>
    [Test]
    public Task It_handles_nothing() => IsRefusedAsync(
        new Case($"echo waiting; \"$PSQL\" \"$DATABASE\" -c 'CREATE TABLE late_inbox (id uuid)'; {Sleeps}")
        {
            Send = "INSERT INTO late_inbox VALUES ('{{id}}')",
        },
        "the application handled nothing: no effect of the first message", "waiting");

    [Test]
    public Task It_handles_and_prints_nothing() => IsRefusedAsync(
        new Case(Sleeps), "the application handled nothing: no effect of the first message", "The service printed nothing.");

    [Test]
    public Task The_first_column_of_its_effect_is_a_number() => IsRefusedAsync(
        new Case(Sleeps) { Setup = "CREATE TABLE stock AS SELECT 5 AS n", Effect = "SELECT n FROM stock" },
        "effect 'row' found 1 entry without an id before any message was sent. The first: 5.", "The first column of an effect must have the id");

    [Test]
    public Task The_first_column_of_its_effect_becomes_a_number() => IsRefusedAsync(
        new Case(Sleeps) { Setup = HandlesInTheDatabase, Effect = "SELECT count(*) FROM placed_order HAVING count(*) > 0" },
        "effect 'row' has 1 entry without that id; the first: 1.", "in their first column");

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

    /// <summary>Whatever the application does, the effect is there: no crash of it can show anything.</summary>
    [Test]
    public Task Sending_makes_its_effect() => IsRefusedAsync(
        new Case(Handles)
        {
            Setup = "CREATE VIEW seen AS SELECT id FROM inbox UNION SELECT id FROM placed_order",
            Effect = "SELECT id FROM seen",
            Idle = "SELECT count(*) FROM inbox",
        },
        "effect 'row' of a message was there though the application did not run: 'send' makes it",
        "what the application writes", OneMinute);

    [Test]
    public Task It_wants_to_encrypt() => IsRefusedAsync(
        new Case("PGSSLMODE=require \"$PSQL\" \"${DATABASE%sslmode=disable}\" -c 'SELECT 1'"),
        "the application wants to encrypt its connection to 'orders'", "sslmode=disable", OneMinute);

    [Test]
    public Task A_statement_of_an_effect_fails() => IsRefusedAsync(
        new Case(Sleeps) { Effect = "SELEKT id" }, "the effect 'row' fails in database 'orders': syntax error", "SELEKT id");

    /// <summary>What is doubled in the second table would not be seen.</summary>
    [Test]
    public Task A_statement_of_an_effect_has_two_queries() => IsRefusedAsync(
        new Case(Sleeps) { Effect = "SELECT id FROM placed_order; SELECT id FROM inbox" },
        "Only the first result of a statement is read, and this one has more: SELECT id FROM placed_order; SELECT id FROM inbox", "UNION ALL");

    [Test]
    public Task A_statement_of_idle_has_two_queries() => IsRefusedAsync(
        new Case(Sleeps) { Idle = "SELECT 0; SELECT count(*) FROM inbox" }, "Only the first result of a statement is read", "UNION ALL");

    /// <summary>A table that is not there can come. A column or a function of one that is there is awaited for some seconds only.</summary>
    [TestCase("SELECT idd FROM placed_order", "column \"idd\" does not exist at character 8.", Category = ExhaustiveAttribute.Category)]
    [TestCase("SELECT to_txt(id) FROM placed_order", "function to_txt(uuid) does not exist at character 8.", Category = ExhaustiveAttribute.Category)]
    public async Task A_statement_of_an_effect_is_wrong(string effect, string because)
    {
        var watch = System.Diagnostics.Stopwatch.StartNew();

        await IsRefusedAsync(
            new Case(Sleeps) { Effect = effect }, $"the effect 'row' fails in database 'orders': {because}", $"Correct the statement: {effect}", OneMinute);

        Assert.That(watch.Elapsed, Is.LessThan(OneMinute));
    }

    [Test]
    public async Task A_column_that_the_application_adds_is_awaited()
    {
        var adds = new Case($"\"$PSQL\" \"$DATABASE\" -c 'ALTER TABLE placed_order ADD COLUMN code uuid'; {Handles}")
        {
            Effect = "SELECT coalesce(code, id) FROM placed_order",
        };

        await Assert.ThatAsync(() => TrialOf(adds, OneMinute).RunAsync(CancellationToken.None), Throws.Nothing);
    }

    /// <summary>As a service that starts slowly and executes one migration after the other. It creates the table of its messages, too.</summary>
    [Test]
    public async Task Tables_that_come_late_may_get_their_columns_later()
    {
        const string Migrates = "sql() { \"$PSQL\" \"$DATABASE\" -c \"$1\"; }; sleep 2; "
            + "sql 'CREATE TABLE late_inbox (a integer); CREATE TABLE late_order (id uuid)'; sleep 1; "
            + "sql 'ALTER TABLE late_inbox ADD COLUMN id uuid; ALTER TABLE late_order ADD COLUMN code uuid'; "
            + "while :; do sleep 0.5; sql 'WITH taken AS (DELETE FROM late_inbox RETURNING id) INSERT INTO late_order SELECT id FROM taken'; done";
        var slow = new Case(Migrates)
        {
            Send = "INSERT INTO late_inbox (id) VALUES ('{{id}}')",
            Effect = "SELECT coalesce(code, id) FROM late_order",
        };

        await Assert.ThatAsync(() => TrialOf(slow, OneMinute).RunAsync(CancellationToken.None), Throws.Nothing);
    }

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
        new Case(Sleeps) { Send = "INSURT {{id}}" }, "the statement of 'send' is wrong: syntax error at or near \"INSURT\" at character 1.", "send.sql");

    [Test]
    public async Task The_statement_of_send_names_no_column()
    {
        var watch = System.Diagnostics.Stopwatch.StartNew();

        await IsRefusedAsync(
            new Case(Sleeps) { Send = "INSERT INTO inbox (idd) VALUES ('{{id}}')" },
            "the statement of 'send' is wrong: column \"idd\" of relation \"inbox\" does not exist at character 20.", "send.sql");

        Assert.That(watch.Elapsed, Is.LessThan(Sender.Patience));
    }

    /// <summary>It sends what is no frame of PostgreSQL, and the proxy cuts that connection.</summary>
    [Test]
    public async Task The_proxy_cannot_read_what_it_says()
    {
        const string Says = "at=${DATABASE##*:}; exec 3<>/dev/tcp/127.0.0.1/${at%%/*}; printf '\\377\\377\\377\\377\\0\\0\\0\\0' >&3; "
            + "\"$PSQL\" \"$DATABASE\" -c 'INSERT INTO said DEFAULT VALUES'; ";
        foreach (var (setup, patience) in new[] { ("SELECT 1", TimeSpan.FromSeconds(10)), (HandlesInTheDatabase, OneMinute) })
        {
            // It is not idle before it has said that.
            var says = new Case(Says + Sleeps)
            {
                Program = "/bin/bash",
                Setup = $"CREATE TABLE said (); {setup}",
                Idle = "SELECT 1 - count(*) FROM said",
            };

            await Assert.ThatAsync(
                () => TrialOf(says, patience).RunAsync(CancellationToken.None),
                Throws.TypeOf<KitException>().With.Message.StartsWith("The proxy could not read what was said over a connection to 'orders'"));
        }
    }

    [Test]
    [Exhaustive]
    public async Task It_never_connects()
    {
        var file = ProofFileReader.Parse("orders.proof.json", new Case(Sleeps).Text);
        List<string> said = [];

        await Assert.ThatAsync(
            () => new Trial(file, servers, said.Add, TimeSpan.FromSeconds(12)).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.EndsWith("And no request to 'orders' has passed through the proxy."));
        Assert.That(said, Has.Exactly(1).StartsWith("After 10 s: 0 of 1 for effect 'row'; no request to 'orders' has passed through the proxy."));
    }

    /// <summary>It asks the server for its own port, through the proxy, and handles on a connection to that port.</summary>
    [Test]
    [Exhaustive]
    public async Task Its_handling_goes_around_the_proxy()
    {
        const string FindsTheServer =
            "port=$(\"$PSQL\" \"$DATABASE\" -Atc 'SHOW port'); at=${DATABASE%/*}; DATABASE=\"${at%:*}:$port/${DATABASE##*/}\"; ";
        using var folder = new TemporaryFolder();
        var file = ProofFileReader.Parse("orders.proof.json", new Case(FindsTheServer + Handles).Text);

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
        var orphan = int.Parse(await said.Task.WaitAsync(Eventually.Limit), CultureInfo.InvariantCulture);

        Assert.That(await process.KillAsync(), Is.EqualTo(137));
        await Eventually.HoldsAsync(() => ChildProcesses.CommandLineOf(orphan).Length == 0, "its child has ended");
    }

    /// <summary>Nobody else would end it.</summary>
    [Test]
    public async Task A_killed_proof_takes_its_service_with_it()
    {
        using var folder = new TemporaryFolder();
        var own = new ServersOfARunner(folder);
        var file = folder.Below("orders.proof.json");
        await File.WriteAllTextAsync(file, new Case("sleep 301 & sleep 302").Text);
        using var runner = RunnerProcess.Start(own.Environment, RunnerProcess.ProvePath, ["check", file]);
        int? child = null;
        await Eventually.HoldsAsync(() => Task.FromResult((child = ServicesOf(runner.Id).FirstOrDefault()) > 0), "it has started the service");
        var (service, postmaster) = (ProcessIdentity.Of(child!.Value)!, own.Postmaster);
        var sleeping = ChildProcesses.Of(service.Id).Select(ProcessIdentity.Of).OfType<ProcessIdentity>().ToList();

        await runner.SignalAsync("KILL");

        await Eventually.HoldsAsync(() => Task.FromResult(service.HasEnded && sleeping.TrueForAll(one => one.HasEnded)), "the service has ended, too");
        Assert.That((await ChildProcesses.SignalAsync("KILL", $"{postmaster.Id}")).Succeeded, "its server is removed by the next one; here nobody comes");

        static IEnumerable<int> ServicesOf(int runner) =>
            ChildProcesses.Of(runner).Where(id => ChildProcesses.CommandLineOf(id).StartsWith("/bin/sh\0-c\0sleep 301", StringComparison.Ordinal));
    }

    private Task IsRefusedAsync(Case one, string message, string remedy) => IsRefusedAsync(one, message, remedy, TimeSpan.FromSeconds(2));

    private async Task IsRefusedAsync(Case one, string message, string remedy, TimeSpan patience)
    {
        var refused = await Assert.ThrowsAsync<KitException>(() => TrialOf(one, patience).RunAsync(CancellationToken.None));

        Assert.That(refused.Message, Does.Contain(message));
        Assert.That(refused.Remedy, Does.Contain(remedy));
        Assert.That(refused.IsUsage, Is.True);
    }

    private Trial TrialOf(Case one, TimeSpan patience) =>
        new(ProofFileReader.Parse("orders.proof.json", one.Text), servers, _ => { }, patience) { Before = TimeSpan.FromSeconds(0.3) };

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
