using System.Text.Json;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Guarantees;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;
using Kit.Tests.Proofs;

namespace Kit.Tests.Exhaustive.Proofs;

/// <summary>The worker in Samples/Worker, wrong in two ways and right, on servers of its own.</summary>
[Parallelizable]
public sealed class WorkerInPython
{
    /// <summary>Inserts an order for each request, once.</summary>
    internal const string HttpService =
        """
        import http.server, os, psycopg2
        database = psycopg2.connect(os.environ["DATABASE"])
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                order = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with database, database.cursor() as cursor:
                    cursor.execute("INSERT INTO placed_order VALUES (%s) ON CONFLICT DO NOTHING", (order,))
                self.send_response(204)
                self.end_headers()
        http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
        """;

    /// <summary>Polls in a transaction that it begins at its first poll, and commits only when there was a message.</summary>
    private const string PollingInOneTransaction =
        """
        import os, psycopg2, time
        database = psycopg2.connect(os.environ["DATABASE"])
        while True:
            with database.cursor() as cursor:
                cursor.execute("DELETE FROM inbox RETURNING id")
                orders = cursor.fetchall()
                for order in orders:
                    cursor.execute("INSERT INTO placed_order VALUES (%s)", order)
            if orders:
                database.commit()
            time.sleep(0.2)
        """;

    /// <summary>Asks the server for its port, and goes there without the proxy.</summary>
    private const string GoingAround =
        """
        import os, pika, psycopg2
        first = psycopg2.connect(os.environ["DATABASE"]).cursor()
        first.execute("SELECT inet_server_port()")
        database = psycopg2.connect(os.environ["DATABASE"], port=first.fetchone()[0])
        def handle(channel, method, properties, body):
            with database, database.cursor() as cursor:
                cursor.execute("INSERT INTO placed_order VALUES (%s)", (body.decode(),))
            channel.basic_ack(method.delivery_tag)
        channel = pika.BlockingConnection(pika.URLParameters(os.environ["BROKER"])).channel()
        channel.basic_consume("orders", handle)
        channel.start_consuming()
        """;

    private static readonly string PollingProof = JsonSerializer.Serialize(new
    {
        name = "polling",
        databases = new[] { "orders" },
        setup = new { orders = "CREATE TABLE inbox (id uuid); CREATE TABLE placed_order (id uuid PRIMARY KEY)" },
        start = new { command = new[] { Python, "-c", PollingInOneTransaction }, environment = new { DATABASE = "{{postgresql:orders:uri}}" } },
        send = new { sql = "INSERT INTO inbox VALUES ('{{id}}')", database = "orders" },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM inbox" } },
        promise = "exactly-once",
    });

    /// <summary>Inserts an order for each request, and sends a mail before the commit.</summary>
    private const string MailingService =
        """
        import http.server, os, psycopg2, urllib.request
        database = psycopg2.connect(os.environ["DATABASE"])
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                order = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with database, database.cursor() as cursor:
                    cursor.execute("INSERT INTO placed_order VALUES (%s) ON CONFLICT DO NOTHING", (order,))
                    if cursor.rowcount == 1:
                        urllib.request.urlopen(os.environ["MAILS"], data=order.encode()).read()
                self.send_response(204)
                self.end_headers()
        http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
        """;

    private static readonly string MailingProof = JsonSerializer.Serialize(new
    {
        name = "mailing",
        databases = new[] { "orders" },
        setup = new { orders = "CREATE TABLE placed_order (id uuid PRIMARY KEY)" },
        start = new
        {
            command = new[] { Python, "-c", MailingService },
            environment = new { DATABASE = "{{postgresql:orders:uri}}", PORT = "{{port}}", MAILS = "{{calls}}/mails" },
        },
        send = new { http = "http://127.0.0.1:{{port}}/orders", body = "{{id}}", contentType = "text/plain" },
        effects = new object[]
        {
            new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" },
            new { name = "mail", calls = "/mails" },
        },
        promise = "at-least-once",
    });

    /// <summary>Inserts an order for each job. If that fails, it writes the job to a table of errors, and goes on.</summary>
    private const string ForgivingWorker =
        """
        import os, psycopg2, time
        def connect():
            database = psycopg2.connect(os.environ["DATABASE"])
            database.autocommit = True
            return database.cursor()
        cursor = connect()
        while True:
            cursor.execute("SELECT id FROM job")
            for job in cursor.fetchall():
                try:
                    cursor.execute("INSERT INTO placed_order VALUES (%s)", job)
                except psycopg2.Error:
                    cursor = connect()
                    cursor.execute("INSERT INTO failed_job VALUES (%s)", job)
                cursor.execute("DELETE FROM job WHERE id = %s", job)
            time.sleep(0.2)
        """;

    private static readonly string ForgivingProof = JsonSerializer.Serialize(new
    {
        name = "forgiving",
        databases = new[] { "orders" },
        setup = new { orders = "CREATE TABLE job (id uuid); CREATE TABLE failed_job (id uuid); CREATE TABLE placed_order (id uuid)" },
        start = new { command = new[] { Python, "-c", ForgivingWorker }, environment = new { DATABASE = "{{postgresql:orders:uri}}" } },
        send = new { sql = "INSERT INTO job VALUES ('{{id}}')", database = "orders" },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" } },
        deadLetters = new[] { new { name = "failed", database = "orders", sql = "SELECT id FROM failed_job" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
        promise = "at-least-once",
    });

    /// <summary>Lets the broker forget each message at once, and never connects to its database again.</summary>
    private const string DeafWorker =
        """
        import os, pika, psycopg2
        database = psycopg2.connect(os.environ["DATABASE"])
        database.autocommit = True
        cursor = database.cursor()
        def handle(channel, method, properties, body):
            try:
                cursor.execute("INSERT INTO placed_order VALUES (%s)", (body.decode(),))
            except psycopg2.Error as error:
                print(error, flush=True)
        channel = pika.BlockingConnection(pika.URLParameters(os.environ["BROKER"])).channel()
        channel.basic_consume("orders", handle, auto_ack=True)
        channel.start_consuming()
        """;

    /// <summary>After an error it keeps the job in a file, and inserts it at its next start.</summary>
    private const string SpoolingWorker =
        """
        import os, psycopg2, time
        spool = os.path.join(os.environ["SPOOL"], os.environ["DATABASE"].split("/")[-1].split("?")[0])
        def connect():
            database = psycopg2.connect(os.environ["DATABASE"])
            database.autocommit = True
            return database.cursor()
        cursor = connect()
        if os.path.exists(spool):
            cursor.execute("INSERT INTO placed_order VALUES (%s)", (open(spool).read(),))
            os.remove(spool)
        while True:
            cursor.execute("DELETE FROM job RETURNING id")
            for job in cursor.fetchall():
                try:
                    cursor.execute("INSERT INTO placed_order VALUES (%s)", job)
                except psycopg2.Error:
                    open(spool, "w").write(job[0])
                    cursor = connect()
            time.sleep(0.2)
        """;

    private static string SpoolingProof(string folder) => JsonSerializer.Serialize(new
    {
        name = "spooling",
        databases = new[] { "orders" },
        setup = new { orders = "CREATE TABLE job (id uuid); CREATE TABLE placed_order (id uuid)" },
        start = new
        {
            command = new[] { Python, "-c", SpoolingWorker },
            environment = new { DATABASE = "{{postgresql:orders:uri}}", SPOOL = folder },
        },
        send = new { sql = "INSERT INTO job VALUES ('{{id}}')", database = "orders" },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
        promise = "at-most-once",
    });

    internal const string Python = "python3";
    private const string PathVariable = "PATH";

    private static readonly Lazy<Task<string?>> Lack = new(async () =>
        PostgreSqlServer.Missing ?? RabbitMqServer.Missing
        ?? (await PutPythonFirstAsync() ? null : "This machine lacks the libraries of the worker in Python: apt-get install python3-pika python3-psycopg2"));

    private readonly SharedProofServers shared = new();

    [OneTimeTearDown]
    public ValueTask StopServersAsync() => shared.DisposeAsync();

    [SetUp]
    public Task Ignore() => IgnoreWithoutItAsync();

    /// <summary>Ignores a test that needs the worker, where it cannot run.</summary>
    internal static async Task IgnoreWithoutItAsync()
    {
        if (await Lack.Value is { } missing)
            Assert.Ignore(missing);
    }

    /// <summary>
    /// The files start the first Python of the search path, which need not be the one with the libraries: the folder of that becomes the first.
    /// </summary>
    private static async Task<bool> PutPythonFirstAsync()
    {
        var path = Environment.GetEnvironmentVariable(PathVariable) ?? "";
        foreach (var folder in path.Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries))
        {
            var program = Path.Combine(folder, ExternalProgram.FileNameOf(Python));
            if (!File.Exists(program) || !(await new ExternalProgram(program).RunAsync(["-c", "import pika, psycopg2"], CancellationToken.None)).Succeeded)
                continue;

            if (ExternalProgram.OnSearchPath(Python) != program)
                Environment.SetEnvironmentVariable(PathVariable, $"{folder}{Path.PathSeparator}{path}");
            return true;
        }

        return false;
    }

    [Test]
    public async Task Deduplicating_apart_loses_a_message_after_its_first_commit()
    {
        var results = await MeetAsync("dedupe-apart", point => point.Request.Text is "COMMIT");

        Assert.That(results.ClassOf("COMMIT (orders, after INSERT INTO handled_message", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Once));
        Assert.That(results.ClassOf("COMMIT (orders, after INSERT INTO handled_message", PointWay.Killed), Is.EqualTo(DeliveryClass.Lost));
        Assert.That(results.ClassOf("COMMIT (orders, no. 2, after INSERT INTO placed_order", PointWay.Killed), Is.EqualTo(DeliveryClass.Torn));
        Assert.That(results.All.Count(result => result.Verdict is FaultVerdict.Broken), Is.EqualTo(3));
        Assert.That(CommittedWhen(DeliveryClass.Lost), Has.One.Contain("orders: public.handled_message: INSERT: id[uuid]:").And.None.Contain("placed_order"));
        Assert.That(CommittedWhen(DeliveryClass.Torn), Has.Exactly(2).Items.And.One.Contain("orders: public.placed_order: INSERT: id[uuid]:"));

        IEnumerable<string> CommittedWhen(DeliveryClass kind) => results.All.First(result => result.Class == kind && result.Verdict is FaultVerdict.Broken)
            .Timeline.Where(step => step.Kind is TimelineKind.Committed).Select(step => step.Text);
    }

    [Test]
    public async Task The_right_one_keeps_its_promise_around_its_commit_and_its_acknowledgement()
    {
        var results = await MeetAsync("correct", point => point.Request.Text is "COMMIT" or "basic.publish shipments" or "basic.ack");

        Assert.That(results.All.Select(result => result.Verdict), Is.All.EqualTo(FaultVerdict.Kept));
        Assert.That(results.ClassOf("basic.ack", PointWay.NeverSent), Is.EqualTo(DeliveryClass.DuplicatedOutgoing));
        Assert.That(results.ClassOf("basic.ack", PointWay.Killed), Is.EqualTo(DeliveryClass.Once));
    }

    [Test]
    public async Task A_service_that_is_asked_over_HTTP_is_asked_again_after_a_crash()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("http.proof.json", HttpProof("http", HttpService)),
            point => point.Request.Text is "COMMIT", PointWay.NeverSent, PointWay.Killed);

        Assert.That(results.All.Select(result => result.Class), Is.EqualTo([DeliveryClass.Once, DeliveryClass.Once]));
    }

    [Test]
    public async Task A_call_before_the_commit_is_made_again_after_a_crash()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("mailing.proof.json", MailingProof), point => point.Request.Text is "COMMIT", PointWay.NeverSent, PointWay.Killed);

        Assert.That(results.ClassOf("COMMIT", PointWay.NeverSent), Is.EqualTo(DeliveryClass.DuplicatedOutgoing));
        Assert.That(results.ClassOf("COMMIT", PointWay.Killed), Is.EqualTo(DeliveryClass.Once));
    }

    [Test]
    public async Task A_service_that_gives_a_message_up_at_each_error_breaks_its_promise_in_both_ways_of_a_cut()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("forgiving.proof.json", ForgivingProof), point => point.Request.Text.StartsWith("INSERT", StringComparison.Ordinal),
            PointWay.Cut, PointWay.CutBefore);

        Assert.That(results.ClassOf("INSERT", PointWay.CutBefore), Is.EqualTo(DeliveryClass.CleanError));
        Assert.That(results.ClassOf("INSERT", PointWay.Cut), Is.EqualTo(DeliveryClass.Zombie));
        Assert.That(results.All.Select(result => result.Verdict), Is.All.EqualTo(FaultVerdict.Broken));
    }

    /// <summary>It may lose the message, and it loses every later one, too.</summary>
    [Test]
    public async Task A_service_that_never_connects_again_breaks_the_promise_to_lose_at_most_what_was_under_way()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("deaf.proof.json", QueueProof("deaf", DeafWorker, "at-most-once")),
            point => point.Request.Text.StartsWith("INSERT", StringComparison.Ordinal), PointWay.NeverSent, PointWay.CutBefore);

        Assert.That(results.All.Single(result => result.Point.Way is PointWay.NeverSent).Verdict, Is.EqualTo(FaultVerdict.Kept));
        var cut = results.All.Single(result => result.Point.Way is PointWay.CutBefore);
        Assert.That((cut.Class, cut.Verdict), Is.EqualTo((DeliveryClass.Lost, FaultVerdict.Broken)));
        Assert.That(cut.Violations, Is.EqualTo(Enumerable.Repeat("a message that was sent when nothing moved any more is lost (row: 0 of 1)", 4)));
    }

    /// <summary>It lives, and only its next start does the harm.</summary>
    [Test]
    public async Task What_a_service_does_at_its_next_start_belongs_to_the_experiment()
    {
        using var folder = new TemporaryFolder();
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("spooling.proof.json", SpoolingProof(folder.Path)),
            point => point.Request.Text.StartsWith("INSERT", StringComparison.Ordinal), PointWay.Cut);

        var cut = results.All.Single();
        Assert.That((cut.Class, cut.Verdict), Is.EqualTo((DeliveryClass.Duplicated, FaultVerdict.Broken)));
        Assert.That(cut.Timeline.Select(step => step.Text), Has.One.StartsWith("at the end it is killed and started again"));
    }

    /// <summary>Its points would be those of a poll alone, and its promise would be called kept.</summary>
    [Test]
    public async Task A_handling_in_a_transaction_that_was_open_before_its_message_is_refused() => await Assert.ThatAsync(
        () => MetPoints.OfAsync(shared, ProofFileReader.Parse("polling.proof.json", PollingProof), _ => true, PointWay.Killed),
        Throws.TypeOf<KitException>().With.Message.Contains("in a transaction that was open before it came")
            .And.Message.Contains("INSERT INTO placed_order VALUES").And.Message.Contains("COMMIT (orders)"));

    /// <summary>It does not wait for the acknowledgement. Its next requests, on another connection, can come before it: then the row is there.</summary>
    [Test]
    public async Task An_early_acknowledgement_loses_a_message_or_its_shipment()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Read(FileOf("early-ack")), point => point.Request.Text is "basic.ack", PointWay.Killed);

        var met = results.All.Single();
        Assert.That((met.Class, met.Verdict), Is.EqualTo((DeliveryClass.Lost, FaultVerdict.Broken)).Or.EqualTo((DeliveryClass.Torn, FaultVerdict.Broken)));
        Assert.That(met.Timeline.Select(step => step.Text), Has.One.EqualTo("basic.ack"));
    }

    [Test]
    public async Task Prove_tells_and_draws_how_a_message_is_lost()
    {
        using var folder = new TemporaryFolder();
        var junit = Path.Combine(folder.Path, "proof.xml");
        var proof = Path.Combine(folder.Path, "proof");

        var result = await RunnerProcess.ProveAsync(FileOf("dedupe-apart"), "--only", "dedupe-apart@3:b", "--out", proof, "--junit", junit);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output + result.Errors);
        Assert.That(
            result.Output,
            Does.Contain("BROKEN: the message is lost (row: 0 of 1, shipment: 0 of 1): COMMIT (orders, after INSERT INTO handled_message"));
        var report = File.ReadAllText(Path.Combine(proof, ProofFolder.ReportFile));
        Assert.That(report, Does.Contain(". orders: COMMIT").And.Contain("](violation-lost.svg)"));
        Assert.That(Path.Combine(proof, "violation-lost.svg"), Does.Exist);
        Assert.That(File.ReadAllText(junit), Does.Contain("failures=\"1\" errors=\"0\""));
    }

    [Test]
    public async Task Its_speed_is_measured_by_its_commits_and_its_shipments()
    {
        using var folder = new TemporaryFolder();

        var result = await RunnerProcess.ProveAsync(
            "drain", FileOf("correct"), "--messages", "200", "--warm-up", "20", "--rounds", "1", "--out", folder.Below("drain"));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var round = new DrainFolder(folder.Below("drain")).LoadDocument().Counting.Single();
        Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(199));
        Assert.That(round.Costs.Commits.Value, Is.GreaterThan(0.99).And.LessThan(1.5), "one for each order");
    }

    /// <summary>The database's log cannot be decoded there, and shipments have the time of this machine's clock.</summary>
    [Test]
    public async Task Its_speed_is_measured_on_servers_of_the_user()
    {
        using var folder = new TemporaryFolder();
        await using var database = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        await using var broker = await PrivateRabbitMq.StartAsync(CancellationToken.None);

        var result = await RunnerProcess.ProveAsync(
            "drain", FileOf("correct"), "--messages", "200", "--warm-up", "20", "--rounds", "1", "--postgresql", database.ConnectionString,
            "--rabbitmq", broker.AmqpUri.AbsoluteUri, "--rabbitmq-management", broker.ManagementUri.AbsoluteUri, "--out", folder.Below("drain"));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var drain = new DrainFolder(folder.Below("drain")).LoadDocument();
        Assert.That(drain.Counting.Single().OffsetsMilliseconds, Has.Count.EqualTo(199));
        Assert.That(drain.Counting[0].ServerClock, Is.Not.Null);
        Assert.That(drain.Named!.Keys, Is.EquivalentTo(drain.Servers.Keys));
        Assert.That(drain.Lacks, Has.One.Contains("its wal_level is not logical"));
        using var management = new ManagementApi(broker.Address);
        Assert.That((await management.ReadVirtualHostsAsync(CancellationToken.None)).Select(host => host.Name), Has.None.StartsWith("kit-"));
        Assert.That(
            string.Concat(Directory.EnumerateFiles(folder.Path, "*", SearchOption.AllDirectories).Select(File.ReadAllText)) + result.Output,
            Does.Not.Contain(broker.Address.Password).And.Not.Contain(new Npgsql.NpgsqlConnectionStringBuilder(database.ConnectionString).Password));
    }

    [Test]
    public async Task Its_highest_rate_is_found_and_users_wait_for_its_shipments()
    {
        using var folder = new TemporaryFolder();

        var found = await RunnerProcess.ProveAsync(
            "load", FileOf("correct"), "--find-rate", "--rate", "40/s", "--for", "3s", "--timeout", "3s", "--at-percent", "50", "--out", folder.Below("found"));
        var users = await RunnerProcess.ProveAsync(
            "load", FileOf("correct"), "--users", "4", "--senders", "4", "--for", "3s", "--out", folder.Below("users"));

        Assert.That((found.ExitCode, users.ExitCode), Is.EqualTo((ExitCode.Success, ExitCode.Success)), found.Output + found.Errors + users.Output);
        var rate = FoundRate.In(new LoadFolder(folder.Below("found")).LoadDocument()).Single();
        Assert.That((rate.Best!.Failed, rate.Below.Count), Is.EqualTo((0, 1)));
        Assert.That(rate.Best.Latency!.P99, Is.LessThanOrEqualTo(1_000));
        Assert.That(found.Output, Does.Contain("messages a second were sustained with p99 "));
        var load = new LoadFolder(folder.Below("users")).LoadDocument().Results.Single();
        Assert.That((load.Users, load.Failed), Is.EqualTo(((int?)4, 0)));
        // The row is committed before the shipment is sent, and the user waits for both.
        Assert.That(load.Latency!.P50, Is.Positive);
        Assert.That(load.UserLag!.P50, Is.InRange(0, 500));
    }

    [Test]
    public async Task A_service_that_is_asked_over_HTTP_is_measured_while_it_runs()
    {
        using var folder = new TemporaryFolder();
        var file = folder.Below("http.proof.json");
        await File.WriteAllTextAsync(file, HttpProof("http", HttpService));

        var result = await RunnerProcess.ProveAsync("load", file, "--rate", "20/s", "--for", "3s", "--senders", "2", "--out", folder.Below("load"));

        Assert.That(result.ExitCode, Is.AnyOf(ExitCode.Success, ExitCode.Failure), result.Output + result.Errors);
        var load = new LoadFolder(folder.Below("load")).LoadDocument().Results.Single();
        // On a busy machine the sender can be late.
        var exitCode = load.WhyNothingIsShown(limitMilliseconds: null) is not null ? ExitCode.Failure : ExitCode.Success;
        Assert.That(result.ExitCode, Is.EqualTo(exitCode), result.Output + result.Errors);
        Assert.That((load.Sent, load.Failed), Is.EqualTo((60, 0)));
    }

    [Test]
    public async Task One_whose_rows_go_around_the_proxy_is_refused()
    {
        using var folder = new TemporaryFolder();
        var file = ProofFileReader.Parse("around.proof.json", QueueProof("around", GoingAround, "at-least-once"));
        var plan = new ProofPlan(file, folder.Path, Only: null, Budget: null);

        await Assert.ThatAsync(
            () => new ProofRun(plan, (_, _, _) => { }, _ => { }).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>()
                .With.Message.Contains("no request of their handling to 'orders', where effect 'row' is, passed through the proxy")
                .And.Property("IsUsage").True);
    }

    [Test]
    public async Task Ctrl_C_ends_the_application_and_reports_what_was_done()
    {
        using var folder = new TemporaryFolder();
        using var runner = RunnerProcess.Start([], RunnerProcess.ProvePath, [FileOf("correct"), "--out", folder.Path]);
        await runner.PrintedAsync("1 of ");

        var workers = WorkersOf(runner);

        await runner.SignalAsync("INT");

        var result = await runner.EndAsync();
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Output + result.Errors);
        Assert.That(result.Output, Does.Contain("correct kept its promise").And.Contain("not tried (it was stopped)"));
        Assert.That(File.ReadAllText(Path.Combine(folder.Path, ProofFolder.ReportFile)), Does.Contain("## Not tried"));
        Assert.That(workers, Is.Not.Empty);
        Assert.That(workers.Where(worker => !worker.HasEnded), Is.Empty, "no worker is left");
    }

    /// <summary>Of a worker that takes orders from a queue, and inserts a row for each.</summary>
    private static string QueueProof(string name, string worker, string promise) => JsonSerializer.Serialize(new
    {
        name,
        databases = new[] { "orders" },
        queues = new[] { "orders" },
        setup = new { orders = "CREATE TABLE placed_order (id uuid)" },
        start = new
        {
            command = new[] { Python, "-c", worker },
            environment = new { DATABASE = "{{postgresql:orders:uri}}", BROKER = "{{rabbitmq}}" },
        },
        send = new { queue = "orders", body = "{{id}}" },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" } },
        promise,
    });

    /// <summary>The proof file of a service that is asked over HTTP to place orders.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="service">Its text.</param>
    /// <param name="accepted">With which statuses it refuses an order that is placed.</param>
    internal static string HttpProof(string name, string service, params IReadOnlyList<int> accepted) => JsonSerializer.Serialize(new
    {
        name,
        databases = new[] { "orders" },
        setup = new { orders = "CREATE TABLE placed_order (id uuid PRIMARY KEY)" },
        start = new
        {
            command = new[] { Python, "-c", service },
            environment = new { DATABASE = "{{postgresql:orders:uri}}", PORT = "{{port}}" },
        },
        send = new { http = "http://127.0.0.1:{{port}}/orders", body = "{{id}}", contentType = "text/plain", accepted },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" } },
        promise = "exactly-once",
    });

    /// <summary>The workers that a runner has started.</summary>
    private static List<ProcessIdentity> WorkersOf(RunnerProcess runner) =>
    [
        .. ChildProcesses.Of(runner.Id).Where(id => ChildProcesses.CommandLineOf(id).Contains("worker.py", StringComparison.Ordinal))
            .Select(ProcessIdentity.Of).OfType<ProcessIdentity>(),
    ];

    private static string FileOf(string way) => Path.Combine(RepositoryFiles.Root, "Samples", "Worker", $"{way}{ProofFile.Suffix}");

    private Task<MetPoints> MeetAsync(string way, Func<CrashPoint, bool> chosen) =>
        MetPoints.OfAsync(shared, ProofFileReader.Read(FileOf(way)), chosen, PointWay.NeverSent, PointWay.Killed);
}
