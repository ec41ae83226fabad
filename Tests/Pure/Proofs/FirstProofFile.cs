using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>What <c>init</c> writes.</summary>
public sealed class FirstProofFile
{
    private static readonly FileDraft Polling = new(
        "orders", ["./orders"], ["DATABASE=postgresql://app:hush@db1/orders"], "job.id", ["invoice.job_id"], "CREATE TABLE job (id uuid)", "exactly-once");

    private static readonly FileDraft Receiving = new(
        "orders", ["dotnet", "Orders.dll"], ["BROKER=amqp://app:hush@mq1", "DATABASE=Host=db1;Password=hush;Database=orders"], "orders",
        ["placed_order.id", "queue:shipments"], Schema: null, "at-least-once");

    [Test]
    public void For_a_table_has_what_the_other_verbs_read()
    {
        var file = ProofFileReader.Parse("orders.proof.json", Polling.Write());

        Assert.That(file.Databases, Is.EqualTo(["orders"]));
        Assert.That(file.Setup, Is.EqualTo([("orders", "CREATE TABLE job (id uuid)")]));
        Assert.That(file.Start.Environment, Is.EqualTo(new Dictionary<string, string> { ["DATABASE"] = "{{postgresql:orders:uri}}" }));
        Assert.That(file.Send, Is.EqualTo(new SendBySql("orders", "INSERT INTO job (id) VALUES ('{{id}}')")));
        Assert.That(file.Effects, Is.EqualTo([new RowEffect("invoice", "orders", "SELECT job_id FROM invoice", 1)]));
        Assert.That(file.Idle, Is.EqualTo([new IdleStatement("orders", "SELECT count(*) FROM job")]));
    }

    [Test]
    public void For_a_queue_has_what_the_other_verbs_read()
    {
        var file = ProofFileReader.Parse("orders.proof.json", Receiving.Write());

        Assert.That(file.Queues, Is.EqualTo(["orders", "shipments"]));
        Assert.That(file.Start.Environment["BROKER"], Is.EqualTo("{{rabbitmq}}"));
        Assert.That(file.Start.Environment["DATABASE"], Is.EqualTo("{{postgresql:orders}}"));
        Assert.That(file.Effects.Select(effect => effect.Name), Is.EqualTo(["placed_order", "shipments"]));
    }

    [TestCase("jdbc:postgresql://db1/orders?user=app&password=hush", "{{postgresql:orders:jdbc}}")]
    [TestCase("postgres://db1:5433/orders", "{{postgresql:orders:uri}}")]
    [TestCase("Server=db1;Database=orders;Pwd=hush", "{{postgresql:orders}}")]
    public void Keeps_the_form_of_a_connection_string(string connection, string placeholder)
    {
        var text = (Polling with { Connections = [$"DATABASE={connection}"] }).Write();

        Assert.That(text, Does.Contain($"\"DATABASE\": \"{placeholder}\"").And.Not.Contain("hush").And.Not.Contain("db1"));
    }

    [TestCase("orders", "--connection: expected VARIABLE=connection string")]
    [TestCase("DATABASE=hush", "--connection: DATABASE is neither of PostgreSQL nor of RabbitMQ.")]
    [TestCase("DATABASE=mysql://app:hush@db1/orders", "--connection: DATABASE is neither of PostgreSQL nor of RabbitMQ.")]
    [TestCase("DATABASE=jdbc:mysql://app:hush@db1/orders", "--connection: DATABASE is neither of PostgreSQL nor of RabbitMQ.")]
    [TestCase("DATABASE=postgresql://app:hush@db1", "--connection: DATABASE names no database.")]
    [TestCase("DATABASE=Host=db1;Password=hush", "--connection: DATABASE names no database.")]
    public void Refuses_a_connection_string_and_does_not_repeat_it(string connection, string error) => Assert.That(
        () => (Polling with { Connections = [connection] }).Write(),
        Throws.TypeOf<KitException>().With.Message.StartsWith(error).And.Message.Not.Contain("hush").And.Property("IsUsage").True);

    [Test]
    public void Refuses_what_does_not_fit_together()
    {
        AssertRefused(Polling with { Queue = "job" }, "--queue: expected a table and the column of the id, such as job.id, found 'job'.");
        AssertRefused(Polling with { Effects = ["invoice"] }, "--effect: expected a table and the column");
        AssertRefused(Polling with { Effects = ["queue:mails"] }, "--effect: 'queue:mails' is a queue of a broker");
        AssertRefused(Receiving with { Connections = ["BROKER=amqp://mq1"] }, "--effect: no --connection names a database of PostgreSQL.");
    }

    [Test]
    public async Task Is_written_once_and_only_if_everything_is_given()
    {
        using var folder = new TemporaryFolder();
        var path = folder.Below("orders.proof.json");
        string[] all =
        [
            "init", path, "--command", "./orders", "--connection", "DATABASE=postgresql://localhost/orders", "--queue", "job.id", "--effect", "invoice.job_id",
        ];

        var asks = await RunnerInProcess.ProveAsync(all[..^2]);
        var written = await RunnerInProcess.ProveAsync(all);
        var again = await RunnerInProcess.ProveAsync(all);
        var misnamed = await RunnerInProcess.ProveAsync("init", "orders.json");

        Assert.That((asks.ExitCode, asks.Errors), Is.EqualTo((
            ExitCode.Usage,
            "error: --effect is missing, and there is no terminal to ask.\n  → Give it: --effect <table.column or queue:name>.\n")));
        Assert.That(written.ExitCode, Is.EqualTo(ExitCode.Success), written.Errors);
        Assert.That(written.Output, Does.Contain("kit-prove check "));
        Assert.That((again.ExitCode, again.Errors), Is.EqualTo((
            ExitCode.Usage, $"error: {path} exists.\n  → Name a new file, or change that one by hand.\n")));
        Assert.That((misnamed.ExitCode, misnamed.Errors), Is.EqualTo((
            ExitCode.Usage, "error: expected a file that ends with .proof.json, found 'orders.json'.\n  → Example: orders.proof.json\n")));
    }

    private static void AssertRefused(FileDraft draft, string error) => Assert.That(
        draft.Write, Throws.TypeOf<KitException>().With.Message.StartsWith(error).And.Property("IsUsage").True);
}
