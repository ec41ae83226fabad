using System.Text.Json;
using Kit.Guarantees;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Tests.Proofs;

namespace Kit.Tests.Exhaustive.Proofs;

/// <summary>Small services in Python that break their promise, and show it at a moment or in a way that is easily missed.</summary>
[Parallelizable]
public sealed class ServicesThatLookRight
{
    /// <summary>Its only worker ends with the first error. The process lives on, so no supervisor starts it again.</summary>
    private const string EndingWorker =
        """
        import os, psycopg2, threading, time
        def work():
            database = psycopg2.connect(os.environ["DATABASE"])
            while True:
                with database, database.cursor() as cursor:
                    cursor.execute("WITH gone AS (DELETE FROM job RETURNING id) INSERT INTO placed_order SELECT id FROM gone")
                    handled = cursor.rowcount
                if handled == 0:
                    time.sleep(0.2)
        threading.Thread(target=work, daemon=True).start()
        while True:
            time.sleep(1)
        """;

    /// <summary>Exactly once. BEGINNING runs before it handles anything, and a process handles MOST messages.</summary>
    private const string RightWorker =
        """
        import os, psycopg2, time
        database = psycopg2.connect(os.environ["DATABASE"])
        BEGINNING
        most = MOST
        while True:
            with database, database.cursor() as cursor:
                if most > 0:
                    cursor.execute("WITH gone AS (DELETE FROM job RETURNING id) INSERT INTO placed_order SELECT id FROM gone")
                    most -= cursor.rowcount
            time.sleep(0.1)
        """;

    /// <summary>
    /// At least once, by two workers. Each deletes the job over a connection of its own, and connects that anew only when a job has failed.
    /// </summary>
    private const string LateWorkers =
        """
        import os, psycopg2, threading, time
        taken, choosing = set(), threading.Lock()
        def connect():
            connection = psycopg2.connect(os.environ["DATABASE"])
            connection.autocommit = True
            return connection
        def work():
            insert, delete, has_rested = connect().cursor(), connect().cursor(), False
            while True:
                with choosing:
                    insert.execute("SELECT id FROM job")
                    job = next((id for (id,) in insert.fetchall() if id not in taken), None)
                    taken.add(job)
                if job:
                    try:
                        insert.execute("INSERT INTO placed_order VALUES (%s)", (job,))
                        time.sleep(0.1)
                        delete.execute("DELETE FROM job WHERE id = %s", (job,))
                    except psycopg2.Error:
                        taken.discard(job)
                        if has_rested:
                            delete = connect().cursor()
                        else:
                            has_rested = True
                            time.sleep(2.5)
                time.sleep(0.05)
        threading.Thread(target=work, daemon=True).start()
        work()
        """;

    /// <summary>Its poll leaves a transaction open, in which it handles. One text has the statements of the handling and the commit.</summary>
    private const string ChainingWorker =
        """
        import os, psycopg2, time
        database = psycopg2.connect(os.environ["DATABASE"])
        while True:
            cursor = database.cursor()
            cursor.execute("SELECT id FROM job LIMIT 1")
            job = cursor.fetchone()
            if not job:
                time.sleep(0.1)
                continue
            cursor.execute("INSERT INTO placed_order VALUES (%s); DELETE FROM job WHERE id = %s; COMMIT_IT", (job[0], job[0]))
            with database, database.cursor() as other:
                other.execute("UPDATE handled SET jobs = jobs + 1")
        """;

    /// <summary>Acknowledges first, and then calls.</summary>
    private const string CallingWorker =
        """
        import http.client, os, pika, urllib.parse
        mails = urllib.parse.urlparse(os.environ["MAILS"])
        connection = http.client.HTTPConnection(mails.hostname, mails.port)
        def handle(channel, method, properties, body):
            channel.basic_ack(method.delivery_tag)
            connection.request("POST", "/mails/" + body.decode(), body=b"{}")
            connection.getresponse().read()
        channel = pika.BlockingConnection(pika.URLParameters(os.environ["BROKER"])).channel()
        channel.basic_qos(prefetch_count=1)
        channel.basic_consume("orders", handle)
        channel.start_consuming()
        """;

    /// <summary>Takes a job, and if it cannot insert it, tries again after four seconds.</summary>
    private const string PatientWorker =
        """
        import os, psycopg2, time
        def connect():
            database = psycopg2.connect(os.environ["DATABASE"])
            database.autocommit = True
            return database.cursor()
        cursor, waiting = connect(), []
        while True:
            cursor.execute("DELETE FROM job RETURNING id")
            waiting += [(0, id) for (id,) in cursor.fetchall()]
            for due, id in [one for one in waiting if one[0] <= time.time()]:
                waiting.remove((due, id))
                try:
                    cursor.execute("INSERT INTO placed_order VALUES (%s)", (id,))
                except psycopg2.Error:
                    cursor = connect()
                    waiting.append((time.time() + 4, id))
            time.sleep(0.1)
        """;

    /// <summary>Takes a job before it inserts it. If nothing moves for three seconds, it ends.</summary>
    private const string WatchedWorker =
        """
        import os, psycopg2, threading, time
        database = psycopg2.connect(os.environ["DATABASE"])
        database.autocommit = True
        cursor, moved = database.cursor(), [time.time()]
        def watch():
            while time.time() - moved[0] < 3:
                time.sleep(0.1)
            os._exit(3)
        threading.Thread(target=watch, daemon=True).start()
        while True:
            cursor.execute("DELETE FROM job RETURNING id")
            for job in cursor.fetchall():
                cursor.execute("INSERT INTO placed_order VALUES (%s)", job)
            moved[0] = time.time()
            time.sleep(0.1)
        """;

    /// <summary>Charges again under an id of its own, if it has charged and does not know it.</summary>
    private const string RenamingWorker =
        """
        import os, psycopg2, time
        database = psycopg2.connect(os.environ["DATABASE"])
        database.autocommit = True
        cursor = database.cursor()
        while True:
            cursor.execute("SELECT id FROM job LIMIT 1")
            for job in cursor.fetchall():
                cursor.execute("SELECT 1 FROM placed_order WHERE id = %s", job)
                cursor.execute("INSERT INTO placed_order VALUES (" + ("gen_random_uuid())" if cursor.fetchone() else "%s)"), job)
                cursor.execute("DELETE FROM job WHERE id = %s", job)
            time.sleep(0.1)
        """;

    /// <summary>Remembers a job that has failed, and tries it again after eight seconds, although it is still in its queue.</summary>
    private const string RememberingWorker =
        """
        import os, psycopg2, time
        def connect():
            database = psycopg2.connect(os.environ["DATABASE"])
            database.autocommit = True
            return database.cursor()
        cursor, waiting = connect(), []
        while True:
            try:
                cursor.execute("SELECT id FROM job LIMIT 1")
                for (id,) in cursor.fetchall() + [one[1:] for one in waiting if one[0] <= time.time()]:
                    waiting = [one for one in waiting if one[1] != id or one[0] > time.time()]
                    cursor.execute("INSERT INTO placed_order VALUES (%s)", (id,))
                    cursor.execute("DELETE FROM job WHERE id = %s", (id,))
            except psycopg2.Error:
                cursor = connect()
                waiting.append((time.time() + 8, id))
            time.sleep(0.1)
        """;

    /// <summary>Counts the messages that it gets, and inserts a row as often as is said of each.</summary>
    private const string CountingWorker =
        """
        import os, psycopg2, time
        database = psycopg2.connect(os.environ["DATABASE"])
        handled = 0
        while True:
            with database, database.cursor() as cursor:
                cursor.execute("DELETE FROM job RETURNING id")
                for job in cursor.fetchall():
                    handled += 1
                    for _ in range(TIMES):
                        cursor.execute("INSERT INTO placed_order VALUES (%s)", job)
            time.sleep(0.1)
        """;

    /// <summary>Drops the fourth message that a process of it gets.</summary>
    private static readonly string DroppingWorker = CountingWorker.Replace("TIMES", "0 if handled == 4 else 1", StringComparison.Ordinal);

    /// <summary>Handles each third message twice.</summary>
    private static readonly string StutteringWorker = CountingWorker.Replace("TIMES", "2 if handled % 3 == 0 else 1", StringComparison.Ordinal);

    /// <summary>Inserts an order for each request, and refuses one that is there.</summary>
    private static readonly string RefusingService = WorkerInPython.HttpService.Replace(
        "send_response(204)", "send_response(204 if cursor.rowcount == 1 else 409)", StringComparison.Ordinal);

    /// <summary>Writes an entry for each job. Another thread does the same each second, without a job.</summary>
    private const string BeatingWorker =
        """
        import os, psycopg2, threading, time, uuid
        def connect():
            database = psycopg2.connect(os.environ["DATABASE"])
            database.autocommit = True
            return database.cursor()
        def write(cursor, id, kind):
            cursor.execute("INSERT INTO placed_order VALUES (%s, %s)", (id, kind))
        def beat(cursor):
            while True:
                write(cursor, str(uuid.uuid4()), "beat")
                time.sleep(1)
        threading.Thread(target=beat, args=(connect(),), daemon=True).start()
        cursor = connect()
        while True:
            cursor.execute("DELETE FROM job RETURNING id")
            for (id,) in cursor.fetchall():
                write(cursor, id, "order")
            time.sleep(0.1)
        """;

    /// <summary>Sends a shipment for each order, and each second a metric over a connection of its own.</summary>
    private const string MeasuringWorker =
        """
        import os, pika, random, string, threading, time
        def connect():
            return pika.BlockingConnection(pika.URLParameters(os.environ["BROKER"])).channel()
        def measure(channel):
            while True:
                channel.basic_publish("", "metrics", "1")
                time.sleep(1)
        threading.Thread(target=measure, args=(connect(),), daemon=True).start()
        channel = connect()
        channel.exchange_declare("events", "topic")
        channel.queue_bind("shipments", "events", "order.#")
        def handle(channel, method, properties, body):
            key = "".join(random.choices(string.ascii_letters, k=20))
            channel.basic_publish(EXCHANGE, KEY, body)
            channel.basic_ack(method.delivery_tag)
        channel.basic_qos(prefetch_count=1)
        channel.basic_consume("orders", handle)
        channel.start_consuming()
        """;

    private static string CallingProof(string worker) => JsonSerializer.Serialize(new
    {
        name = "calling",
        queues = new[] { "orders" },
        start = new
        {
            command = new[] { WorkerInPython.Python, "-c", worker },
            environment = new { BROKER = "{{rabbitmq}}", MAILS = "{{calls}}" },
        },
        send = new { queue = "orders", body = "{{id}}" },
        effects = new[] { new { name = "mail", calls = "/mails" } },
        promise = "at-least-once",
    });

    private readonly SharedProofServers shared = new();

    [OneTimeTearDown]
    public ValueTask StopServersAsync() => shared.DisposeAsync();

    [SetUp]
    public Task Ignore() => WorkerInPython.IgnoreWithoutItAsync();

    /// <summary>A start at the end would cure it.</summary>
    [Test]
    public async Task One_that_handles_nothing_after_an_error_is_judged_before_its_next_start()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("ending.proof.json", OfJobs("ending", EndingWorker, "")),
            point => point.Request.Text is "BEGIN", PointWay.Killed, PointWay.CutBefore);

        Assert.That(results.All.Single(result => result.Point.Way is PointWay.Killed).Verdict, Is.EqualTo(FaultVerdict.Kept));
        var cut = results.All.Single(result => result.Point.Way is PointWay.CutBefore);
        Assert.That((cut.Class, cut.Verdict), Is.EqualTo((DeliveryClass.Stuck, FaultVerdict.Broken)));
        Assert.That(cut.Violations, Has.Some.StartsWith("work is left: "));
    }

    /// <summary>A machine that stops a process or a server for half a minute does the same.</summary>
    [Test]
    public async Task One_that_stands_still_for_half_a_minute_after_a_kill_is_not_called_stuck()
    {
        const string Pausing =
            """
            with database, database.cursor() as cursor:
                cursor.execute("INSERT INTO start VALUES (1); SELECT count(*) FROM start")
                starts = cursor.fetchone()[0]
            if starts > 1:
                time.sleep(30)
            """;
        var worker = RightWorker.Replace("BEGINNING", Pausing, StringComparison.Ordinal).Replace("MOST", "100", StringComparison.Ordinal);

        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("pausing.proof.json", OfJobs("pausing", worker, "; CREATE TABLE start (number int)")),
            point => point.Request.Text.StartsWith("WITH", StringComparison.Ordinal), PointWay.Killed);

        Assert.That(results.All.Select(result => (result.Class, result.Verdict)), Is.EqualTo([((DeliveryClass?)DeliveryClass.Once, FaultVerdict.Kept)]));
    }

    /// <summary>Nothing was killed or cut, so a busy machine can be all that is wrong.</summary>
    [Test]
    public async Task Work_that_is_left_where_no_fault_was_is_void()
    {
        using var folder = new TemporaryFolder();
        // The first message and the recording have the first two processes.
        var beginning = $"open({JsonSerializer.Serialize(folder.Below("starts"))}, 'a').write('.')";
        var most = $"100 if os.path.getsize({JsonSerializer.Serialize(folder.Below("starts"))}) < 3 else 3";
        var worker = RightWorker.Replace("BEGINNING", beginning, StringComparison.Ordinal).Replace("MOST", most, StringComparison.Ordinal);

        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("tired.proof.json", OfJobs("tired", worker, "")),
            point => point.Request.Text.StartsWith("WITH", StringComparison.Ordinal), PointWay.Killed);

        var only = results.All.Single();
        Assert.That(only.Verdict, Is.EqualTo(FaultVerdict.Void));
        Assert.That(only.Because, Does.Contain("is stuck"));
        Assert.That(only.Discarded, Is.Empty, "another try could hide that the service is tired");
    }

    /// <summary>The second worker finds its dead connection with a message that comes when all others have been handled.</summary>
    [Test]
    public async Task One_whose_workers_recover_one_by_one_has_time_for_it()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("late.proof.json", OfJobs("late", LateWorkers, "", "at-least-once")),
            point => point.Request.Text.StartsWith("DELETE", StringComparison.Ordinal), PointWay.CutBefore);

        var cut = results.All.Single();
        Assert.That((cut.Class, cut.Verdict), Is.EqualTo((DeliveryClass.Duplicated, FaultVerdict.Kept)), string.Join('\n', cut.Violations));
    }

    /// <summary>Nothing shows that it still has the message, and it must handle it: so the kit waits.</summary>
    [Test]
    public async Task One_that_tries_again_later_has_time_for_it()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("patient.proof.json", OfJobs("patient", PatientWorker, "")),
            point => point.Request.Text.StartsWith("INSERT", StringComparison.Ordinal), PointWay.CutBefore);

        Assert.That((results.All.Single().Class, results.All.Single().Verdict), Is.EqualTo((DeliveryClass.Once, FaultVerdict.Kept)));
    }

    /// <summary>It has handled the message, and the kit's kill must not come before it does so again.</summary>
    [Test]
    public async Task One_that_tries_again_from_memory_is_found_out_before_it_is_killed()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("remembering.proof.json", OfJobs("remembering", RememberingWorker, "")),
            point => point.Request.Text.StartsWith("DELETE", StringComparison.Ordinal), PointWay.Cut);

        Assert.That((results.All.Single().Class, results.All.Single().Verdict), Is.EqualTo((DeliveryClass.Duplicated, FaultVerdict.Broken)));
    }

    /// <summary>Its own message has one row, as promised. The other has an id that nobody sent.</summary>
    [Test]
    public async Task One_that_charges_again_under_another_id_is_found_out()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("renaming.proof.json", OfJobs("renaming", RenamingWorker, "")),
            point => point.Request.Text.StartsWith("INSERT", StringComparison.Ordinal), PointWay.Killed);

        var killed = results.All.Single();
        Assert.That((killed.Class, killed.Verdict), Is.EqualTo((DeliveryClass.Once, FaultVerdict.Broken)));
        Assert.That(killed.Violations.Single(), Does.StartWith("effect 'row' of no message that was sent: "));
    }

    /// <summary>What was lost was lost before its next process began, and nobody killed the first one.</summary>
    [Test]
    public async Task One_that_ends_by_itself_is_not_called_killed()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("watched.proof.json", OfJobs("watched", WatchedWorker, "")),
            point => point.Request.Text.StartsWith("DELETE", StringComparison.Ordinal), PointWay.Unanswered, PointWay.Cut);

        Assert.That(results.All.Select(result => result.Point.Way), Is.EquivalentTo([PointWay.Unanswered, PointWay.Cut]));
        foreach (var ended in results.All)
        {
            Assert.That((ended.Class, ended.Verdict, ended.KilledAfterSeconds), Is.EqualTo((DeliveryClass.Lost, FaultVerdict.Broken, (double?)null)));
            var end = ended.Timeline.Single(step => step.Kind is TimelineKind.Process);
            var code = ended.Point.Way is PointWay.Unanswered ? 3 : 1;
            Assert.That(end.Text, Does.Match($@"^the process ended by itself with exit code {code}, \d+\.\d s after that moment$"));
        }
    }

    /// <summary>A try whose point is not met must not hide what became of its message.</summary>
    [Test]
    public async Task One_that_loses_a_message_without_any_fault_breaks_its_promise()
    {
        var (tried, saved) = await MeetWhatNeverComesAsync(OfJobs("dropping", DroppingWorker, "", "at-most-once"));

        Assert.That(tried, Is.EqualTo(1));
        Assert.That((saved.Verdict, saved.Class, saved.IsWithoutFault), Is.EqualTo((FaultVerdict.Broken, DeliveryClass.Lost, true)));
        Assert.That(saved.Violations, Is.EqualTo(["a message that nothing disturbed is lost (row: 0 of 1)"]));
        Assert.That(saved.Point.Moment, Is.EqualTo("no crash: this handling did not come to the point"));
    }

    [Test]
    public async Task One_that_handles_a_message_twice_without_any_fault_is_no_subject() => await Assert.ThatAsync(
        () => MetPoints.OfAsync(shared, ProofFileReader.Parse("stuttering.proof.json", OfJobs("stuttering", StutteringWorker, "")), _ => true, PointWay.Killed),
        Throws.TypeOf<KitException>().With.Message.Contains("were disturbed by nothing, and one is duplicated (row: 2 of 1)"));

    /// <summary>Each time something else can have had the request first.</summary>
    [Test]
    public async Task A_point_that_no_handling_comes_to_is_tried_three_times()
    {
        var (tried, saved) = await MeetWhatNeverComesAsync(OfJobs("patient", PatientWorker, ""));

        Assert.That(tried, Is.EqualTo(3));
        Assert.That((saved.Verdict, saved.Because), Is.EqualTo((FaultVerdict.Void, "this handling did not come to the point")));
        Assert.That(saved.Discarded, Is.EqualTo(Enumerable.Repeat("this handling did not come to the point", 2)));
    }

    private async Task<(int Tried, ProofResult Saved)> MeetWhatNeverComesAsync(string proof)
    {
        var file = ProofFileReader.Parse("jobs.proof.json", proof);
        var servers = await shared.GetAsync(file);
        var judge = new ProofJudge(file);
        var experiments = judge.ExperimentsOn(servers);
        var never = new CrashPoint(1, new RequestId("orders", "UPDATE job", "UPDATE 1", 1, 1), Before: null, HasAnswer: true, CanBeProved: true);
        var todo = new Queue<PointExperiment>(PointExperiment.At(file.Name, [never], [PointWay.Killed]));
        var (tried, saved) = (0, new List<ProofResult>());

        await experiments.MakeAsync(
            1,
            () => todo.TryDequeue(out var next) ? next : null,
            (experiment, outcome) =>
            {
                tried++;
                return judge.Judge(experiment, outcome);
            },
            saved.Add, CancellationToken.None);

        return (tried, saved.Single());
    }

    /// <summary>No crash can be tried at its request, which is taken for one without a message.</summary>
    [Test]
    public async Task One_that_writes_its_effect_as_it_does_without_a_message_is_not_proved()
    {
        var beating = OfJobs("beating", BeatingWorker, "; ALTER TABLE placed_order ADD COLUMN kind text")
            .Replace("SELECT id FROM placed_order", "SELECT id FROM placed_order WHERE kind = 'order'", StringComparison.Ordinal);

        var recorded = await RecordAsync(ProofFileReader.Parse("beating.proof.json", beating));

        Assert.That(recorded.Untried, Is.EqualTo(["INSERT INTO placed_order VALUES ('?', '?') (orders)"]));
        Assert.That(Recording.LinesOf(recorded), Has.Some.StartsWith("Not tried, because it is done without a message, too: INSERT INTO placed_order"));
    }

    [TestCase("\"\"", "\"shipments\"", true)]
    [TestCase("\"events\"", "\"order.\" + key", false)]
    public async Task A_message_is_tried_where_its_publish_can_be_told_from_others(string exchange, string key, bool isTried)
    {
        var worker = MeasuringWorker.Replace("EXCHANGE", exchange, StringComparison.Ordinal).Replace("KEY", key, StringComparison.Ordinal);
        var file = ProofFileReader.Parse("measuring.proof.json", JsonSerializer.Serialize(new
        {
            name = "measuring",
            queues = new[] { "orders", "shipments", "metrics" },
            start = new { command = new[] { WorkerInPython.Python, "-c", worker }, environment = new { BROKER = "{{rabbitmq}}" } },
            send = new { queue = "orders", body = "{{id}}" },
            effects = new[] { new { name = "shipment", queue = "shipments" } },
            promise = "at-least-once",
        }));

        var recorded = await RecordAsync(file);

        Assert.That(recorded.Polls, Is.EqualTo(["basic.publish metrics (rabbitmq)"]));
        var points = isTried ? new[] { "basic.publish shipments", "basic.ack" } : ["basic.ack"];
        Assert.That(recorded.Points.Select(point => point.Request.Text), Is.EqualTo(points));
        Assert.That(recorded.Untried, isTried ? Is.Empty : Has.One.StartsWith("basic.publish events/order."));
    }

    private async Task<ProofDocument> RecordAsync(ProofFile file)
    {
        var servers = await shared.GetAsync(file);
        return await new Recording(file, servers, _ => { }).MakeAsync(
            new ProofDocument { Name = file.Name, StartedUtc = DateTimeOffset.UnixEpoch, ProofFile = file.Text, Promised = [.. file.Promised] },
            new ProofJudge(file).ExperimentsOn(servers), CancellationToken.None);
    }

    [TestCase(409, ExpectedResult = FaultVerdict.Kept)]
    [TestCase(ExpectedResult = FaultVerdict.Broken)]
    public async Task<FaultVerdict> One_that_refuses_what_it_has_is_asked_again_until_it_accepts(params int[] accepted)
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("refusing.proof.json", WorkerInPython.HttpProof("refusing", RefusingService, accepted)),
            point => point.Request.Text is "COMMIT", PointWay.Killed);

        Assert.That(results.All.Single().Class, Is.EqualTo(DeliveryClass.Once));
        return results.All.Single().Verdict;
    }

    [Test]
    public async Task One_that_encrypts_its_connection_to_the_broker_is_told_how_not_to()
    {
        var encrypts = CallingWorker.Replace("os.environ[\"BROKER\"]", "\"amqps\" + os.environ[\"BROKER\"][4:]", StringComparison.Ordinal);
        var file = ProofFileReader.Parse("calling.proof.json", CallingProof(encrypts));
        var servers = await shared.GetAsync(file);

        await Assert.ThatAsync(
            () => new Trial(file, servers, _ => { }, TimeSpan.FromSeconds(5)).RunAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains("wants to encrypt its connection to 'rabbitmq'")
                .And.Property("Remedy").Contains("amqp:// instead of amqps://"));
    }

    [TestCase("COMMIT")]
    [TestCase("COMMIT; BEGIN")]
    public async Task A_commit_in_a_longer_text_is_seen(string commit) => await Assert.ThatAsync(
        () => MetPoints.OfAsync(
            shared, ProofFileReader.Parse(
                "chaining.proof.json",
                OfJobs(
                    "chaining", ChainingWorker.Replace("COMMIT_IT", commit, StringComparison.Ordinal),
                    "; CREATE TABLE handled (jobs int); INSERT INTO handled VALUES (0)")),
            _ => true, PointWay.Killed),
        Throws.TypeOf<KitException>().With.Message.Contains("in a transaction that was open before it came"));

    /// <summary>The call must neither overtake the acknowledgement nor be made after the kill.</summary>
    [Test]
    public async Task An_acknowledgement_before_a_call_loses_the_call()
    {
        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Parse("calling.proof.json", CallingProof(CallingWorker)), point => point.Request.Text is "basic.ack",
            PointWay.NeverSent, PointWay.Killed);

        Assert.That(results.ClassOf("basic.ack", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Once), "the broker delivers it again");
        Assert.That(results.ClassOf("basic.ack", PointWay.Killed), Is.EqualTo(DeliveryClass.Lost));
    }

    internal static string OfJobs(string name, string worker, string moreTables, string promise = "exactly-once") => JsonSerializer.Serialize(new
    {
        name,
        databases = new[] { "orders" },
        setup = new { orders = $"CREATE TABLE job (id uuid); CREATE TABLE placed_order (id uuid){moreTables}" },
        start = new { command = new[] { WorkerInPython.Python, "-c", worker }, environment = new { DATABASE = "{{postgresql:orders:uri}}" } },
        send = new { sql = "INSERT INTO job VALUES ('{{id}}')", database = "orders" },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM placed_order" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
        promise,
    });
}
