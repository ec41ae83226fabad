using Kit.Prove.Commands;
using Kit.Prove.Files;
using Kit.Runner.Results;

namespace Kit.Tests.Proofs;

/// <summary>What can be wrong in a proof file without a server. Each is named with its place, and says what would be right.</summary>
public sealed class FileThatIsWrong
{
    private const string Right =
        """
        {
          // Comments are allowed.
          "name": "orders",
          "databases": ["orders"],
          "queues": ["orders"],
          "setup": { "orders": ["CREATE TABLE placed_order (id uuid)"] },
          "start": { "command": ["orders"], "environment": { "DATABASE": "{{postgresql:orders:uri}}", "BROKER": "{{rabbitmq}}" } },
          "send": { "queue": "orders", "body": "{{id}}" },
          "effects": [ { "name": "row", "database": "orders", "sql": "SELECT id FROM placed_order" } ],
          "promise": "at-least-once",
        }
        """;

    [Test]
    public void Dead_letters_are_there_only_if_a_message_was_given_up()
    {
        var file = ProofFileReader.Parse(
            "orders.proof.json",
            Right.Replace("\"promise\"", "\"deadLetters\": [ { \"name\": \"error\", \"queue\": \"orders.error\" } ], \"promise\"", StringComparison.Ordinal));

        Assert.That(file.Effects.Select(effect => (effect.Name, effect.IsDeadLetter)), Is.EqualTo([("row", false), ("error", true)]));
    }

    [Test]
    public void A_right_one_is_read()
    {
        var file = ProofFileReader.Parse("orders.proof.json", Right);

        Assert.That(file.Name, Is.EqualTo("orders"));
        Assert.That(file.Promised, Has.Count.EqualTo(3));
        Assert.That(file.Instances, Is.EqualTo(1));
        Assert.That(file.Idle.Single(), Is.EqualTo(new IdleQueue("orders")), "the queue of the messages must be empty");
        Assert.That(file.NeedsBroker, Is.True);
    }

    /// <summary>A file from elsewhere can run anything.</summary>
    [Test]
    public void What_it_runs_is_told()
    {
        const string Hidden = "COPY placed_order TO PROGRAM 'sh'";
        var file = ProofFileReader.Parse(
            "orders.proof.json",
            Right.Replace("\"CREATE TABLE placed_order (id uuid)\"", $"\"{Hidden}\", \"CREATE TABLE programs ()\"", StringComparison.Ordinal)
                .Replace(
                    "\"promise\"",
                    "\"later\": [ { \"command\": [\"old\", \"--all jobs\"], \"environment\": { \"PGPASSWORD\": \"hunter22\" } } ], \"promise\"",
                    StringComparison.Ordinal));

        Assert.That(CommandsOf.Lines(file), Is.EqualTo(
        [
            $"orders.proof.json runs: orders (in {Environment.CurrentDirectory}, with DATABASE, BROKER)",
            $"To let leases become old it runs: old '--all jobs' (in {Environment.CurrentDirectory}, with PGPASSWORD)",
            $"The server runs a program in: {Hidden}",
        ]));
        Assert.That(file.Secrets.Mask("old: hunter22"), Does.Not.Contain("hunter22"));
    }

    [TestCase("\"name\": \"orders\"", "\"nome\": \"orders\"", "unknown key 'nome'.", "Keys: name, databases, queues,")]
    [TestCase("\"name\": \"orders\"", "\"name\": \"orders\", \"calls\": {}", "unknown key 'calls'.", "Keys: name, databases, queues,")]
    [TestCase("\"name\": \"orders\",", "", "the key 'name' is missing.", "Keys: name,")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"commits\": \"yes\"",
        "'commits': expected true or false, found \"yes\".", "docs/reference/commands.md")]
    [TestCase("\"name\": \"orders\"", "\"name\": \"orders\", \"later\": []", "'later' names nothing.", "leave it out")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": { \"command\": [\"old\"] }",
        "'later': expected a list of objects, found {", "docs/reference/commands.md")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ \"old\" ]",
        "'later[0]': expected an object in braces, found \"old\".", "docs/reference/commands.md")]
    [TestCase("\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ {} ]", "'later[0]' does not say what is executed.", "or 'command'")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ { \"command\": \"old\" } ]",
        "'later[0].command': expected a list of texts, found \"old\".", "docs/reference/commands.md")]
    [TestCase("\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ { \"command\": [] } ]", "'later[0].command' names no program.", "dotnet")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ { \"command\": [\"old\"], \"directory\": \"none\" } ]",
        "'later[0].directory': there is no folder", "relative")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ { \"command\": [\"old\", \"{{postgresql:stock}}\"] } ]",
        "there is no placeholder {{postgresql:stock}}.", "{{rabbitmq:vhost}}")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ { \"command\": [\"old\"], \"environment\": { \"ID\": \"{{id}}\" } } ]",
        "'later[0]' has {{id}}, and is executed for no message.", "every lease")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ { \"command\": [\"old\"], \"database\": \"orders\", \"sql\": \"SELECT\" } ]",
        "'later[0].database' and 'later[0].command' are both there.", "two entries")]
    [TestCase("\"name\": \"orders\"", "\"name\": \"orders\", \"lease\": \"4 hours\"", "'lease' is there, and 'later' is not.", "becomes old")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"later\": [ { \"database\": \"stock\", \"sql\": \"UPDATE job SET leased = NULL\" } ]",
        "there is no database 'stock'.", "Databases: orders.")]
    [TestCase("\"databases\": [\"orders\"", "\"databases\": [\"rabbitmq\", \"orders\"", "'databases' names 'rabbitmq', the name of the broker", "another name")]
    [TestCase("\"name\": \"orders\"", "\"name\": \"my orders\"", "'name' is 'my orders': expected ASCII letters", "tokens")]
    [TestCase("\"name\": \"orders\"", "\"name\": 5", "'name': expected a text, found 5.", "docs/reference/commands.md")]
    [TestCase("\"command\": [\"orders\"]", "\"command\": []", "'start.command' names no program.", "dotnet")]
    [TestCase("\"command\": [\"orders\"]", "\"comand\": [\"orders\"]", "unknown key 'comand' in 'start'.", "command, directory, environment")]
    [TestCase("\"command\": [\"orders\"]", "\"command\": [\"orders\"], \"directory\": \"none\"", "'start.directory': there is no folder", "relative")]
    [TestCase("{{rabbitmq}}", "{{rabitmq}}", "there is no placeholder {{rabitmq}}.", "{{postgresql:orders}}, ")]
    [TestCase("{{postgresql:orders:uri}}", "{{postgresql:stock}}", "there is no placeholder {{postgresql:stock}}.", "{{rabbitmq:vhost}}")]
    [TestCase("\"body\": \"{{id}}\"", "\"body\": \"{{id}} {{prot}}\"", "there is no placeholder {{prot}}.", "{{port}}")]
    [TestCase("\"body\": \"{{id}}\"", "\"body\": \"{{id}}\", \"headers\": { \"of\": \"{{ID}}\" }", "there is no placeholder {{ID}}.", "{{port}}")]
    [TestCase(
        "\"queue\": \"orders\", \"body\": \"{{id}}\" }",
        "\"sql\": \"INSERT {{id}} {{now}}\", \"database\": \"orders\" }, \"idle\": [ { \"queue\": \"orders\" } ]",
        "there is no placeholder {{now}}.", "{{port}}")]
    [TestCase(
        "\"queue\": \"orders\", \"body\": \"{{id}}\"", "\"http\": \"http://localhost:{{port}}/{{id}}\", \"body\": \"{{host}}\"",
        "there is no placeholder {{host}}.", "{{port}}")]
    [TestCase(
        "\"queue\": \"orders\", \"body\": \"{{id}}\"", "\"http\": \"http://localhost:{{port}}/{{id}}\", \"accepted\": [409, 200]",
        "'send.accepted' has 200: expected status codes from 400 to 499.", "409")]
    [TestCase(
        "\"queue\": \"orders\", \"body\": \"{{id}}\"", "\"http\": \"http://localhost:{{port}}/{{id}}\", \"accepted\": [0]",
        "'send.accepted' has 0: expected status codes from 400 to 499.", "409")]
    [TestCase(
        "\"queue\": \"orders\", \"body\": \"{{id}}\"", "\"http\": \"http://localhost:{{port}}/{{id}}\", \"accepted\": [\"409\"]",
        "'send.accepted': expected a list of whole numbers, found \"409\".", "docs/reference/commands.md")]
    [TestCase("\"body\": \"{{id}}\"", "\"body\": \"{{id}}\", \"accepted\": [409]", "'send.accepted' does not go with 'send.queue'.", "queue, body,")]
    [TestCase("\"body\": \"{{id}}\"", "\"body\": \"id\"", "'send' has no {{id}} in body.", "The kit puts the id")]
    [TestCase("\"queue\": \"orders\", \"body\"", "\"body\"", "'send' needs one of the keys sql, queue, http and command.", "docs/reference/commands.md")]
    [TestCase(
        "\"queue\": \"orders\", \"body\"", "\"queue\": \"orders\", \"method\": \"PUT\", \"body\"",
        "'send.method' does not go with 'send.queue'.", "queue, body,")]
    [TestCase(
        "\"queue\": \"orders\", \"body\": \"{{id}}\"", "\"sql\": \"{{id}}\", \"database\": \"stock\"",
        "'send.database': there is no database 'stock'.", "Databases: orders.")]
    [TestCase("\"queue\": \"orders\", \"body\": \"{{id}}\"", "\"sql\": \"{{id}}\", \"database\": \"orders\"", "'idle' names nothing.", "returns 0")]
    [TestCase("\"setup\": { \"orders\"", "\"setup\": { \"stock\"", "'setup': there is no database 'stock'.", "Databases: orders.")]
    [TestCase(
        "\"database\": \"orders\", \"sql\": \"SELECT id FROM placed_order\"", "\"sql\": \"SELECT 1\"",
        "the key 'database' is missing in 'effects[0]'.", "Keys in")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"deadLetters\": [ { \"name\": \"row\", \"queue\": \"error\" } ]",
        "two effects or dead letters are named 'row'.", "names")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"deadLetters\": [ { \"name\": \"error\", \"queue\": \"orders\" } ]",
        "'error' is in queue 'orders', from which the application takes its messages.", "sends to")]
    [TestCase(
        "\"name\": \"orders\"",
        "\"name\": \"orders\", \"deadLetters\": [ { \"name\": \"a\", \"queue\": \"error\" }, { \"name\": \"b\", \"queue\": \"error\" } ]",
        "queue 'error' has two effects or dead letters.", "once")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"deadLetters\": [ { \"name\": \"error\" } ]",
        "'deadLetters[0]' does not say where it is.", "or 'queue' for a message")]
    [TestCase(
        "\"name\": \"orders\"", "\"name\": \"orders\", \"deadLetters\": [ { \"name\": \"error\", \"calls\": \"/error\" } ]",
        "unknown key 'calls' in 'deadLetters[0]'.", "Keys in")]
    [TestCase("\"name\": \"row\"", "\"name\": \"row\", \"queue\": \"orders\"", "'effects[0].queue' and 'effects[0].database' are both there.", "either")]
    [TestCase(
        "\"name\": \"row\"", "\"name\": \"row\", \"calls\": \"/mails\"", "'effects[0].calls' and 'effects[0].database' are both there.", "either")]
    [TestCase(
        "\"database\": \"orders\", \"sql\": \"SELECT id FROM placed_order\"", "\"calls\": \"mails\"",
        "'effects[0].calls': expected a path that begins with a slash, found 'mails'.", "{{calls}}/mails/")]
    [TestCase(
        "\"database\": \"orders\", \"sql\": \"SELECT id FROM placed_order\"", "\"calls\": \"/mails\"",
        "'effects[0].calls' counts calls, and 'start' has no {{calls}}.", "environment")]
    [TestCase(
        ", \"database\": \"orders\", \"sql\": \"SELECT id FROM placed_order\"", "",
        "'effects[0]' does not say where it is.", "'queue' for a message")]
    [TestCase("\"promise\"", "\"idle\": [ {} ], \"promise\"", "'idle[0]' does not say what is counted.", "Name a queue; or a database")]
    [TestCase(
        "\"name\": \"row\"", "\"name\": \"row\", \"perMessage\": 0",
        "'effects[0].perMessage': expected a whole number from 1, found 0.", "docs/reference/commands.md")]
    [TestCase("at-least-once", "twice", "'promise' is 'twice'.", "exactly-once, at-least-once, at-most-once; or a list of classes: once, duplicated,")]
    [TestCase("\"at-least-once\"", "[\"often\"]", "'promise': there is no class 'often'.", "Classes: once,")]
    [TestCase("\"at-least-once\"", "[]", "'promise' is an empty list.", "Classes: once,")]
    [TestCase("\"at-least-once\"", "\"at-least-once\", \"instances\": \"two\"", "'instances': expected a number, found \"two\".", "docs/reference/commands.md")]
    [TestCase("\"queues\": [\"orders\"]", "\"queues\": [\"orders\"", "orders.proof.json is not JSON: line ", "Comments are allowed")]
    public void It_is_refused_with_its_place_and_a_remedy(string right, string wrong, string message, string remedy)
    {
        Assert.That(Right.Contains(right, StringComparison.Ordinal), Is.True);

        var refused = Assert.Throws<KitException>(() => ProofFileReader.Parse("orders.proof.json", Right.Replace(right, wrong, StringComparison.Ordinal)));

        Assert.That(refused.Message, Does.StartWith("orders.proof.json").And.Contain(message));
        Assert.That(refused.Remedy, Does.Contain(remedy));
        Assert.That(refused.IsUsage, Is.True);
    }

    [Test]
    public void A_given_program_is_started_instead_of_the_command()
    {
        var (program, folder) = (typeof(FileThatIsWrong).Assembly.Location, Path.GetTempPath());
        var right = Right.Replace(
            "\"queue\": \"orders\", \"body\": \"{{id}}\" }",
            "\"command\": [\"orders\", \"send\", \"{{id}}\"] }, \"idle\": [ { \"queue\": \"orders\" } ]", StringComparison.Ordinal);

        var file = ProofFileReader.Parse(Path.Combine(folder, "orders.proof.json"), right, program);
        var other = ProofFileReader.Parse(
            "orders.proof.json", right.Replace("[\"orders\", \"send\"", "[\"other\", \"send\"", StringComparison.Ordinal), program);

        Assert.That(file.Start.Command, Is.EqualTo(["dotnet", program]));
        Assert.That(file.Start.Environment.Keys, Is.EqualTo(["DATABASE", "BROKER"]));
        Assert.That(((SendByCommand)file.Send).Program.Command, Is.EqualTo(["dotnet", program, "send", "{{id}}"]), "it begins with the same command");
        Assert.That(((SendByCommand)other.Send).Program.Command, Is.EqualTo(["other", "send", "{{id}}"]));
        Assert.That(
            () => ProofFileReader.Parse("orders.proof.json", Right, "none.dll"),
            Throws.TypeOf<KitException>().With.Message.EqualTo("--start: there is no program none.dll."));
    }

    [Test]
    public void The_one_on_the_page_is_right()
    {
        var page = File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "tutorials", "prove-your-service.md"));
        const string Fence = "```json\n";
        var from = page.IndexOf(Fence, StringComparison.Ordinal) + Fence.Length;

        var file = ProofFileReader.Parse("orders.proof.json", page[from..page.IndexOf("```", from, StringComparison.Ordinal)]);

        Assert.That(file.Send, Is.TypeOf<SendBySql>());
        Assert.That(file.NeedsBroker, Is.False);
    }

    [Test]
    public void One_that_is_not_there_is_refused() => Assert.That(
        () => ProofFileReader.Read("none.proof.json"),
        Throws.TypeOf<KitException>().With.Message.StartsWith("none.proof.json: the proof file cannot be read: "));

    [Test]
    public void A_file_that_cannot_be_read_is_named() => Assert.That(
        () => ProofFileReader.Read(Path.GetTempPath()),
        Throws.TypeOf<KitException>().With.Message.StartsWith($"{Path.GetTempPath()}: the proof file cannot be read: ").And.Property("IsUsage").True);

    [Test]
    public void A_file_without_a_name_is_refused() => Assert.That(
        () => ProofFileReader.Read(""), Throws.TypeOf<KitException>().With.Message.Contains("the proof file cannot be read: ").And.Property("IsUsage").True);

    [Test]
    public void Those_of_the_samples_can_be_read()
    {
        var files = Directory.GetFiles(Path.Combine(RepositoryFiles.Root, "Samples"), $"*{ProofFile.Suffix}", SearchOption.AllDirectories)
            .Where(file => !file.Contains($"{Path.DirectorySeparatorChar}bin{Path.DirectorySeparatorChar}", StringComparison.Ordinal)).ToList();

        // Of the order service one for each framework and mode, and three of the worker in Python.
        Assert.That(files, Has.Count.AtLeast(17));
        foreach (var file in files)
            Assert.That($"{ProofFileReader.Read(file).Name}{ProofFile.Suffix}", Is.EqualTo(Path.GetFileName(file)));
    }
}
