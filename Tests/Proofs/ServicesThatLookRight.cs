using System.Text.Json;
using Kit.Guarantees;
using Kit.Runner.Proofs;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Proofs;

/// <summary>Small services in Python that break their promise, and show it at a moment or in a way that is easily missed.</summary>
[Category("faults")]
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

    private static readonly string CallingProof = JsonSerializer.Serialize(new
    {
        name = "calling",
        queues = new[] { "orders" },
        start = new
        {
            command = new[] { WorkerInPython.Python, "-c", CallingWorker },
            environment = new { BROKER = "{{rabbitmq}}", MAILS = "{{calls}}" },
        },
        send = new { queue = "orders", body = "{{id}}" },
        effects = new[] { new { name = "mail", calls = "/mails" } },
        promise = "at-least-once",
    });

    [SetUp]
    public Task Ignore() => WorkerInPython.IgnoreWithoutItAsync();

    /// <summary>A start at the end would cure it.</summary>
    [Test]
    public async Task One_that_handles_nothing_after_an_error_is_judged_before_its_next_start()
    {
        var results = await MetPoints.OfAsync(
            ProofFileReader.Parse("ending.proof.json", OfJobs("ending", EndingWorker, "")),
            point => point.Request.Text is "BEGIN", PointWay.Killed, PointWay.CutBefore);

        Assert.That(results.All.Single(result => result.Point.Way is PointWay.Killed).Verdict, Is.EqualTo(FaultVerdict.Kept));
        var cut = results.All.Single(result => result.Point.Way is PointWay.CutBefore);
        Assert.That((cut.Class, cut.Verdict), Is.EqualTo((DeliveryClass.Stuck, FaultVerdict.Broken)));
        Assert.That(cut.Violations, Has.Some.StartsWith("work is left: "));
    }

    /// <summary>The second worker finds its dead connection with a message that comes when all others have been handled.</summary>
    [Test]
    public async Task One_whose_workers_recover_one_by_one_has_time_for_it()
    {
        var results = await MetPoints.OfAsync(
            ProofFileReader.Parse("late.proof.json", OfJobs("late", LateWorkers, "", "at-least-once")),
            point => point.Request.Text.StartsWith("DELETE", StringComparison.Ordinal), PointWay.CutBefore);

        var cut = results.All.Single();
        Assert.That((cut.Class, cut.Verdict), Is.EqualTo((DeliveryClass.Duplicated, FaultVerdict.Kept)), string.Join('\n', cut.Violations));
    }

    [TestCase("COMMIT")]
    [TestCase("COMMIT; BEGIN")]
    public async Task A_commit_in_a_longer_text_is_seen(string commit) => await Assert.ThatAsync(
        () => MetPoints.OfAsync(
            ProofFileReader.Parse(
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
            ProofFileReader.Parse("calling.proof.json", CallingProof), point => point.Request.Text is "basic.ack", PointWay.NeverSent, PointWay.Killed);

        Assert.That(results.ClassOf("basic.ack", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Once), "the broker delivers it again");
        Assert.That(results.ClassOf("basic.ack", PointWay.Killed), Is.EqualTo(DeliveryClass.Lost));
    }

    private static string OfJobs(string name, string worker, string moreTables, string promise = "exactly-once") => JsonSerializer.Serialize(new
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
