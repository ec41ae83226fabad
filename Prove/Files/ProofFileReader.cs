using System.Diagnostics;
using System.Net.Http.Headers;
using System.Text.Json;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;

namespace Kit.Prove.Files;

/// <summary>Reads a proof file. Everything that can be wrong without a server is an error here.</summary>
internal sealed class ProofFileReader
{
    private const string Id = "{{id}}";

    private static readonly IReadOnlyList<string> Keys =
        ["name", "databases", "queues", "setup", "start", "send", "effects", "deadLetters", "idle", "later", "lease", "promise", "instances", "commits"];

    private static readonly IReadOnlyList<string> KeysOfSend =
        ["sql", "database", "queue", "body", "contentType", "headers", "http", "method", "accepted", "command", "directory", "environment"];

    /// <summary>The classes of an application's messages, by name.</summary>
    public static IReadOnlyDictionary<string, DeliveryClass> Classes { get; } = new[]
    {
        DeliveryClass.Once, DeliveryClass.Duplicated, DeliveryClass.DuplicatedOutgoing, DeliveryClass.Lost, DeliveryClass.Torn, DeliveryClass.Stuck,
        DeliveryClass.CleanError, DeliveryClass.Zombie,
    }.ToDictionary(Words.Of);

    private readonly string path;
    private readonly string? given;
    private readonly JsonKeys whole;
    private readonly IReadOnlyList<string> databases;
    private readonly List<string> templates = [];

    private ProofFileReader(string path, JsonElement root, string? given)
    {
        (this.path, this.given) = (path, given is null ? null : Path.GetFullPath(given));
        whole = new JsonKeys(root, path, "", Keys);
        databases = whole.Texts("databases");
    }

    /// <param name="given">A .NET program to start instead of the command in the file; <see langword="null"/>: none.</param>
    /// <exception cref="KitException">The file cannot be read, or something in it is wrong. The message names the place.</exception>
    public static ProofFile Read(string path, string? given = null) => Parse(path, TextOf(path), given);

    /// <exception cref="KitException">The file cannot be read.</exception>
    public static string TextOf(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ArgumentException)
        {
            throw new KitException(
                $"{path}: the proof file cannot be read: {failure.Message}", $"Write one: {JsonKeys.Documentation} shows how.", failure)
            { IsUsage = true };
        }
    }

    /// <param name="given">A .NET program to start instead of the command in the file; <see langword="null"/>: none.</param>
    /// <inheritdoc cref="Read" path="/exception"/>
    public static ProofFile Parse(string path, string text, string? given = null)
    {
        if (given is not null && !File.Exists(given))
            throw new KitException($"--start: there is no program {given}.", "Build it, and name its .dll.") { IsUsage = true };

        try
        {
            using var document = JsonDocument.Parse(
                text, new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip, AllowTrailingCommas = true });
            return new ProofFileReader(path, document.RootElement, given).ReadWhole(text);
        }
        catch (JsonException damaged)
        {
            // The reader counts from 0, and editors from 1.
            var (line, column) = (damaged.LineNumber + 1, damaged.BytePositionInLine + 1);
            throw new KitException(
                $"{path} is not JSON: line {line}, byte {column}: {damaged.Message.Split(" LineNumber: ")[0]}",
                "Check the quotes, commas and braces of that line. Comments are allowed.", damaged)
            {
                IsUsage = true,
            };
        }
    }

    private ProofFile ReadWhole(string text)
    {
        var name = whole.Text("name");
        if (name.Any(one => !char.IsAsciiLetterOrDigit(one) && one is not ('-' or '_' or '.')))
            throw whole.Error($"'name' is '{name}': expected ASCII letters, digits, dots, hyphens and underscores", "It is part of tokens such as orders@7:b.");

        var queues = whole.Texts("queues");
        var startKeys = whole.Object("start", "command", "directory", "environment");
        var start = Program(startKeys, given is null ? startKeys.Texts("command") : Given);
        var send = ReadSend(startKeys.Texts("command"));
        var effects = ReadEffects(start, send);
        var idle = ReadIdle(send);
        var later = ReadLater(startKeys.Texts("command"));
        var needsBroker = queues.Count > 0 || send is SendToQueue || effects.Exists(effect => effect is QueueEffect)
            || idle.Exists(count => count is IdleQueue) || templates.Exists(Placeholders.NameABroker);
        CheckTemplates(needsBroker);
        if (databases.Contains(Placeholders.Broker))
            throw whole.Error($"'databases' names '{Placeholders.Broker}', the name of the broker in reports", "Give the database another name.");
        if (databases.Count == 0 && !needsBroker)
            throw whole.Error("neither 'databases' nor 'queues' names anything", "The kit can stop requests only to servers of its own: name what it creates.");

        return new ProofFile
        {
            Path = path,
            Text = text,
            Secrets = Secrets.In(text),
            Name = name,
            Databases = databases,
            Queues = queues,
            Setup = [.. whole.Lists("setup").Select(one => (InDatabase(whole, "setup", one.Name), one.Text))],
            Start = start,
            Given = given,
            Send = send,
            Effects = effects,
            Idle = idle,
            Later = later,
            Lease = ReadLease(),
            Promised = ReadPromise(),
            Instances = whole.Number("instances", unlessThere: 1),
            ReadsCommits = ReadsCommits(),
            NeedsBroker = needsBroker,
        };
    }

    private bool ReadsCommits() => whole.Flag("commits") && (databases.Count > 0 ? true : throw whole.Error(
        "'commits' is true, and 'databases' names none", "Only databases have commits that can be read."));

    /// <summary>The command that starts the given program.</summary>
    private IReadOnlyList<string> Given => ["dotnet", given!];

    private ProgramToStart Program(JsonKeys program, IReadOnlyList<string> command)
    {
        if (command.Count == 0)
            throw program.Error($"'{program.PlaceOf("command")}' names no program", "Example: \"command\": [\"dotnet\", \"Orders.dll\"].");

        var folder = Path.GetFullPath(Path.Combine(Path.GetDirectoryName(Path.GetFullPath(path))!, program.Text("directory", ".")));
        if (!Directory.Exists(folder))
            throw program.Error($"'{program.PlaceOf("directory")}': there is no folder {folder}", "It is relative to the proof file.");

        var environment = program.Named("environment");
        templates.AddRange([.. command, .. environment.Values]);
        return new ProgramToStart(command, folder, environment);
    }

    private WayToSend ReadSend(IReadOnlyList<string> named)
    {
        var send = whole.Object("send", KeysOfSend);
        if (send.Among("sql", "queue", "http", "command") is not [var way])
            throw send.Error("'send' needs one of the keys sql, queue, http and command", $"See {JsonKeys.Documentation}.");

        return way switch
        {
            "sql" => BySql(Only(send, "sql", "database")),
            "queue" => ToQueue(Only(send, "queue", "body", "contentType", "headers")),
            "http" => ByHttp(Only(send, "http", "method", "body", "contentType", "accepted")),
            "command" => ByCommand(Only(send, "command", "directory", "environment"), named),
            _ => throw new UnreachableException($"No way to send by '{way}'."),
        };
    }

    private SendBySql BySql(JsonKeys send) => new(DatabaseOf(send), Template(WithId(send, send.Text("sql"), "sql")));

    private SendToQueue ToQueue(JsonKeys send)
    {
        var headers = send.Named("headers");
        templates.AddRange(headers.Values);
        return new SendToQueue(
            send.Text("queue"), Template(WithId(send, send.Text("body"), "body")), send.Text("contentType", "application/json"), headers);
    }

    private SendByHttp ByHttp(JsonKeys send)
    {
        var (url, body) = (send.Text("http"), send.Text("body", ""));
        WithId(send, $"{url} {body}", "http and body");
        var (method, contentType) = (send.Text("method", "POST"), send.Text("contentType", "application/json"));
        if (!Uri.TryCreate(url.Replace("{{port}}", "80", StringComparison.Ordinal).Replace(Id, "", StringComparison.Ordinal), UriKind.Absolute, out var at)
            || (at.Scheme != Uri.UriSchemeHttp && at.Scheme != Uri.UriSchemeHttps))
        {
            throw send.Error($"'{send.PlaceOf("http")}': expected an address, found '{url}'", "Example: http://127.0.0.1:{{port}}/orders");
        }

        if (method.Length == 0 || !method.All(char.IsAsciiLetter))
            throw send.Error($"'{send.PlaceOf("method")}': expected a method, found '{method}'", "Examples: POST, PUT.");
        if (!MediaTypeHeaderValue.TryParse(contentType, out _))
            throw send.Error($"'{send.PlaceOf("contentType")}': expected a media type, found '{contentType}'", "Example: application/json.");
        var accepted = send.Numbers("accepted");
        if (accepted.Where(status => status is < 400 or > 499).ToList() is [var strange, ..])
        {
            throw send.Error(
                $"'{send.PlaceOf("accepted")}' has {strange}: expected status codes from 400 to 499",
                "Name those with which the application refuses a message that it has already, such as 409.");
        }

        return new SendByHttp(Template(url), method, Template(body), contentType, accepted);
    }

    /// <param name="named">The command with which the file starts the application.</param>
    private SendByCommand ByCommand(JsonKeys send, IReadOnlyList<string> named)
    {
        var command = Command(send, named);
        WithId(send, string.Join(' ', [.. command, .. send.Named("environment").Values]), "command and environment");
        return new SendByCommand(Program(send, command));
    }

    /// <summary>A command, with the given program if it begins as the one that starts the application.</summary>
    private IReadOnlyList<string> Command(JsonKeys program, IReadOnlyList<string> named)
    {
        var command = program.Texts("command");
        return given is not null && named.Count > 0 && command.Take(named.Count).SequenceEqual(named)
            ? [.. Given, .. command.Skip(named.Count)]
            : command;
    }

    /// <summary>A text whose placeholders are checked.</summary>
    private string Template(string text)
    {
        templates.Add(text);
        return text;
    }

    private static JsonKeys Only(JsonKeys send, params IReadOnlyList<string> fitting) =>
        KeysOfSend.Except(fitting).FirstOrDefault(send.Has) is { } other
            ? throw send.Error($"'send.{other}' does not go with 'send.{fitting[0]}'", $"Keys with {fitting[0]}: {string.Join(", ", fitting)}.")
            : send;

    private static string WithId(JsonKeys send, string template, string keys) => template.Contains(Id, StringComparison.Ordinal)
        ? template
        : throw send.Error($"'send' has no {Id} in {keys}", "The kit puts the id of each message there, and looks for it in the effects.");

    private List<Effect> ReadEffects(ProgramToStart start, WayToSend send)
    {
        List<Effect> effects =
        [
            .. whole.Objects("effects", "name", "database", "sql", "queue", "calls", "perMessage")
                .Select(one => ReadEffect(one, one.Number("perMessage", unlessThere: 1), start)),
        ];
        if (effects.Count == 0)
            throw whole.Error("'effects' names nothing", "Without an effect that can be read, nothing shows that a message was handled.");
        effects.AddRange(whole.Objects("deadLetters", "name", "database", "sql", "queue").Select(one => ReadEffect(one, FoundEffect.NeverThere, start)));
        if (effects.GroupBy(effect => effect.Name).FirstOrDefault(named => named.Count() > 1) is { } twice)
            throw whole.Error($"two effects or dead letters are named '{twice.Key}'", "Reports tell them apart by their names.");
        if (effects.OfType<QueueEffect>().GroupBy(effect => effect.Queue).FirstOrDefault(alike => alike.Count() > 1) is { } shared)
            throw whole.Error($"queue '{shared.Key}' has two effects or dead letters", "The kit takes each message once: name the queue once.");
        if (send is SendToQueue to && effects.OfType<QueueEffect>().FirstOrDefault(effect => effect.Queue == to.Queue) is { } own)
            throw whole.Error($"'{own.Name}' is in queue '{own.Queue}', from which the application takes its messages", "Name the queue that it sends to.");

        return effects;
    }

    private Effect ReadEffect(JsonKeys one, int perMessage, ProgramToStart start)
    {
        var name = one.Text("name");
        return one.Among("queue", "calls", "database", "sql") switch
        {
            ["queue", ..] => new QueueEffect(name, Alone(one, "queue", "database", "sql", "calls"), perMessage),
            ["calls", ..] => new CallEffect(name, PathOf(one, Alone(one, "calls", "database", "sql"), start), perMessage),
            ["database" or "sql", ..] => new RowEffect(name, DatabaseOf(one), one.Text("sql"), perMessage),
            [] => throw one.Error(
                $"'{one.PlaceOf("")}' does not say where it is",
                "Name 'database' and 'sql' for a row, or 'queue' for a message." + (perMessage == FoundEffect.NeverThere ? "" : " For a call, name 'calls'.")),
            [var other, ..] => throw new UnreachableException($"No effect by '{other}'."),
        };
    }

    private List<IdleCount> ReadIdle(WayToSend send)
    {
        List<IdleCount> idle = [.. whole.Objects("idle", "database", "sql", "queue").Select(ReadIdle)];
        if (send is SendToQueue to && !idle.OfType<IdleQueue>().Any(count => count.Queue == to.Queue))
            idle.Add(new IdleQueue(to.Queue));

        return idle.Count > 0 || send is SendByHttp
            ? idle
            : throw whole.Error("'idle' names nothing", "Say how the kit sees that no message is left: a queue, or a statement that returns 0 then.");
    }

    /// <param name="named">The command with which the file starts the application.</param>
    private List<LaterStep> ReadLater(IReadOnlyList<string> named)
    {
        List<LaterStep> later =
            [.. whole.Objects("later", "database", "sql", "command", "directory", "environment").Select(one => ReadLater(one, named))];
        return later.Count > 0 || !whole.Has("later")
            ? later
            : throw whole.Error("'later' names nothing", "Say by which statements or commands leases become old, or leave it out.");
    }

    private LaterStep ReadLater(JsonKeys one, IReadOnlyList<string> named) =>
        (one.Among("database", "sql"), one.Among("command", "directory", "environment")) switch
        {
            ([_, ..], []) => new LaterStatement(DatabaseOf(one), one.Text("sql")),
            ([], [_, ..]) => new LaterCommand(Program(one, WithoutId(one, Command(one, named)))),
            ([var key, ..], [var other, ..]) => throw one.Error(
                $"'{one.PlaceOf(key)}' and '{one.PlaceOf(other)}' are both there", "It is either a statement or a command: make two entries of it."),
            _ => throw one.Error($"'{one.PlaceOf("")}' does not say what is executed", "Name 'database' and 'sql' for a statement, or 'command'."),
        };

    private static IReadOnlyList<string> WithoutId(JsonKeys program, IReadOnlyList<string> command) =>
        command.Concat(program.Named("environment").Values).Any(text => text.Contains(Id, StringComparison.Ordinal))
            ? throw program.Error($"'{program.PlaceOf("")}' has {Id}, and is executed for no message", "Let it make every lease old.")
            : command;

    private string? ReadLease() => !whole.Has("lease") ? null
        : whole.Has("later") ? whole.Text("lease")
        : throw whole.Error("'lease' is there, and 'later' is not", "The kit does not wait for a lease: say in 'later' how it becomes old.");

    private IdleCount ReadIdle(JsonKeys one) => one.Among("queue", "database", "sql") switch
    {
        ["queue", ..] => new IdleQueue(Alone(one, "queue", "database", "sql")),
        ["database" or "sql", ..] => new IdleStatement(DatabaseOf(one), one.Text("sql")),
        [] => throw one.Error($"'{one.PlaceOf("")}' does not say what is counted", "Name a queue; or a database, and sql that returns one number."),
        [var other, ..] => throw new UnreachableException($"No count by '{other}'."),
    };

    /// <summary>The text of a key that does not go with others.</summary>
    private static string Alone(JsonKeys one, string key, params IReadOnlyList<string> others)
    {
        return one.Among(others) is [var other, ..]
            ? throw one.Error($"'{one.PlaceOf(key)}' and '{one.PlaceOf(other)}' are both there", "It is either a row, a message in a queue, or a call.")
            : one.Text(key);
    }

    private static string PathOf(JsonKeys one, string path, ProgramToStart start)
    {
        if (!path.StartsWith('/'))
            throw one.Error($"'{one.PlaceOf("calls")}': expected a path that begins with a slash, found '{path}'", "Example: /mails, for {{calls}}/mails/…");

        return start.Command.Concat(start.Environment.Values).Any(Placeholders.NameCalls) ? path : throw one.Error(
            $"'{one.PlaceOf("calls")}' counts calls, and 'start' has no {{{{calls}}}}",
            "Give the application that address of the kit instead of the service that it calls: in its environment, or on its command line.");
    }

    private IReadOnlySet<DeliveryClass> ReadPromise()
    {
        if (!whole.Has("promise") || whole.IsText("promise"))
        {
            var name = whole.Text("promise");
            return NamedPromises.All.TryGetValue(name, out var promised)
                ? promised
                : throw whole.Error(
                    $"'promise' is '{name}'",
                    $"Promises: {string.Join(", ", NamedPromises.All.Keys)}; or a list of classes: {string.Join(", ", Classes.Keys)}.");
        }

        var names = whole.Texts("promise");
        return names.FirstOrDefault(name => !Classes.ContainsKey(name)) is { } unknown
            ? throw whole.Error($"'promise': there is no class '{unknown}'", $"Classes: {string.Join(", ", Classes.Keys)}.")
            : names.Count == 0
                ? throw whole.Error("'promise' is an empty list", $"Classes: {string.Join(", ", Classes.Keys)}.")
                : names.Select(name => Classes[name]).ToHashSet();
    }

    private string DatabaseOf(JsonKeys one) => InDatabase(one, "database", one.Text("database"));

    private string InDatabase(JsonKeys one, string key, string database) => databases.Contains(database)
        ? database
        : throw one.Error(
            $"'{one.PlaceOf(key)}': there is no database '{database}'",
            databases.Count == 0 ? "Name it in \"databases\"." : $"Databases: {string.Join(", ", databases)}.");

    private void CheckTemplates(bool needsBroker)
    {
        var known = Placeholders.Invented(databases, needsBroker);
        foreach (var template in templates)
        {
            if (known.UnknownIn(template) is { } unknown)
                throw whole.Error($"there is no placeholder {{{{{unknown}}}}}", $"Placeholders: {string.Join(", ", known.Names)}.");
        }
    }
}
