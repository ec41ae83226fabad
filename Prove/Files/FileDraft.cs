using System.Data.Common;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Kit.Runner.Results;
using Npgsql;

namespace Kit.Prove.Files;

/// <summary>
/// A first proof file, from what its author knows of the application. Its connection strings become placeholders: no address and no password stays.
/// </summary>
/// <param name="Command">The command that starts the application.</param>
/// <param name="Connections">Each as <c>VARIABLE=connection string</c>, as the application is given it today.</param>
/// <param name="Queue">The queue of the broker; without a broker, the table and the column of the id: <c>job.id</c>.</param>
/// <param name="Effects">Each a table with the column of the id, such as <c>invoice.job_id</c>, or <c>queue:NAME</c>.</param>
/// <param name="Schema">Statements that create the tables; <see langword="null"/>: the application creates them.</param>
internal sealed record FileDraft(
    string Name, IReadOnlyList<string> Command, IReadOnlyList<string> Connections, string Queue, IReadOnlyList<string> Effects, string? Schema, string Promise)
{
    private const string QueuePrefix = "queue:";

    private const string Header =
        $"// What each key means: {JsonKeys.Documentation}. The kit starts servers of its own and fills in their addresses.\n";

    private static readonly JsonSerializerOptions Layout = new() { WriteIndented = true, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private static readonly string[] Uris = ["postgresql://", "postgres://"];
    private static readonly string[] Brokers = ["amqp://", "amqps://"];

    /// <summary>The text of the file.</summary>
    /// <exception cref="KitException">Something in it cannot be understood. The message never has a connection string.</exception>
    public string Write()
    {
        List<(string Variable, string? Database, string Placeholder)> given = [.. Connections.Select(ReadConnection)];
        var database = given.Select(one => one.Database).FirstOrDefault(name => name is not null);
        var hasBroker = given.Exists(one => one.Database is null);
        var file = new JsonObject { ["name"] = Name };
        if (database is not null)
            file["databases"] = ListOf(given.Select(one => one.Database).OfType<string>().Distinct());
        if (hasBroker)
            file["queues"] = ListOf(Effects.Where(IsQueue).Select(NameOf).Prepend(Queue).Distinct());
        if (Schema is not null)
            file["setup"] = new JsonObject { [Needed(database, "--schema")] = ListOf([Schema.ReplaceLineEndings("\n").Trim()]) };
        file["start"] = new JsonObject
        {
            ["command"] = ListOf(Command),
            ["environment"] = new JsonObject(given.Select(one => KeyValuePair.Create(one.Variable, (JsonNode?)one.Placeholder))),
        };
        if (hasBroker)
        {
            file["send"] = new JsonObject { ["queue"] = Queue, ["body"] = "{{id}}" };
        }
        else
        {
            var (table, column) = ColumnOf(Queue, "--queue");
            file["send"] = new JsonObject
            {
                ["database"] = Needed(database, "--queue"),
                ["sql"] = $"INSERT INTO {table} ({column}) VALUES ('{{{{id}}}}')",
            };
            file["idle"] = new JsonArray(new JsonObject { ["database"] = database, ["sql"] = $"SELECT count(*) FROM {table}" });
        }

        file["effects"] = new JsonArray([.. Effects.Select(effect => EffectOf(effect, database, hasBroker))]);
        file["promise"] = Promise;
        return $"{Header}{file.ToJsonString(Layout)}\n";
    }

    private static JsonObject EffectOf(string effect, string? database, bool hasBroker)
    {
        if (IsQueue(effect))
        {
            return hasBroker
                ? new JsonObject { ["name"] = NameOf(effect), ["queue"] = NameOf(effect) }
                : throw Wrong($"--effect: '{effect}' is a queue of a broker, and no --connection names a broker", "Name it: --connection BROKER=amqp://…");
        }

        var (table, column) = ColumnOf(effect, "--effect");
        return new JsonObject { ["name"] = table, ["database"] = Needed(database, "--effect"), ["sql"] = $"SELECT {column} FROM {table}" };
    }

    private static (string Variable, string? Database, string Placeholder) ReadConnection(string typed)
    {
        var at = typed.IndexOf('=', StringComparison.Ordinal);
        if (at <= 0 || at == typed.Length - 1)
        {
            throw Wrong(
                "--connection: expected VARIABLE=connection string, such as DATABASE=postgresql://localhost/orders", "Name the application's variable.");
        }

        var (variable, connection) = (typed[..at], typed[(at + 1)..]);
        if (Brokers.Any(scheme => connection.StartsWith(scheme, StringComparison.OrdinalIgnoreCase)))
            return (variable, null, "{{rabbitmq}}");
        if (connection.StartsWith("jdbc:", StringComparison.OrdinalIgnoreCase))
            return OfUri(variable, connection["jdbc:".Length..], ":jdbc");
        if (Uris.Any(scheme => connection.StartsWith(scheme, StringComparison.OrdinalIgnoreCase)))
            return OfUri(variable, connection, ":uri");
        try
        {
            if (new NpgsqlConnectionStringBuilder(connection).Database is { Length: > 0 } database)
                return (variable, database, $"{{{{postgresql:{database}}}}}");
        }
        catch (Exception other) when (other is ArgumentException or FormatException or DbException)
        {
            throw Unknown(variable);
        }

        throw NoDatabase(variable);
    }

    private static (string Variable, string? Database, string Placeholder) OfUri(string variable, string uri, string form)
    {
        if (!Uris.Any(scheme => uri.StartsWith(scheme, StringComparison.OrdinalIgnoreCase)) || !Uri.TryCreate(uri, UriKind.Absolute, out var parsed))
            throw Unknown(variable);
        return Uri.UnescapeDataString(parsed.AbsolutePath.Trim('/')) is { Length: > 0 } database
            ? (variable, database, $"{{{{postgresql:{database}{form}}}}}")
            : throw NoDatabase(variable);
    }

    private static (string Table, string Column) ColumnOf(string typed, string option) => typed.LastIndexOf('.') is > 0 and var at && at < typed.Length - 1
        ? (typed[..at], typed[(at + 1)..])
        : throw Wrong(
            $"{option}: expected a table and the column of the id, such as job.id, found '{typed}'", "For a queue of a broker, name its --connection.");

    private static bool IsQueue(string effect) => effect.StartsWith(QueuePrefix, StringComparison.Ordinal);

    private static string NameOf(string queue) => queue[QueuePrefix.Length..];

    private static string Needed(string? database, string option) =>
        database ?? throw Wrong($"{option}: no --connection names a database of PostgreSQL", "Add --connection DATABASE=postgresql://localhost/orders");

    private static JsonArray ListOf(IEnumerable<string> texts) => new([.. texts.Select(text => (JsonNode?)text)]);

    private static KitException Unknown(string variable) => Wrong(
        $"--connection: {variable} is neither of PostgreSQL nor of RabbitMQ",
        "Expected postgresql://…, jdbc:postgresql://…, Host=…;Database=… or amqp://…");

    private static KitException NoDatabase(string variable) => Wrong($"--connection: {variable} names no database", "Add its name.");

    private static KitException Wrong(string what, string remedy) => new($"{what}.", remedy) { IsUsage = true };
}
