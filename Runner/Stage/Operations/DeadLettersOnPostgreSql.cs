using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Runner.Stage.Operations;

/// <summary>Dead letters of a bare endpoint's queue in a database of the user's.</summary>
internal sealed class DeadLettersOnPostgreSql : DeadLetters
{
    private readonly string name;
    private readonly string address;

    private DeadLettersOnPostgreSql(PostgreSqlQueue queue, string address)
        : base(queue) => (name, this.address) = (queue.Name, address);

    protected override KitException Missing => new(
        $"There is no queue '{name}' in {address}: expected the tables {name} and {ErrorQueue.Of(name)}.",
        "Give the endpoint's name (case matters) and the queue's database: Database=… in the connection string.");

    /// <exception cref="KitException">The connection string cannot be read, or the name is too long.</exception>
    public static DeadLetters Open(string connectionString, string name)
    {
        var settings = PostgreSqlFacts.Parse(connectionString);
        try
        {
            return new DeadLettersOnPostgreSql(new PostgreSqlQueue(settings.ConnectionString, name), PostgreSqlFacts.AddressOf(settings));
        }
        catch (ArgumentException unusable)
        {
            throw new KitException(
                $"No queue can have that name: {unusable.Message}", "Give the endpoint's name.", unusable);
        }
    }

    protected override KitException? Explain(Exception failure) => failure switch
    {
        PostgresException { SqlState: PostgresErrorCodes.InsufficientPrivilege } refused => new KitException(
            $"The role lacks a right on the queue's tables: {address}: {refused.MessageText}.",
            $"Connect as the endpoint's role, or grant SELECT and DELETE on {ErrorQueue.Of(name)} and INSERT on {name}.", refused),
        PostgresException { SqlState: PostgresErrorCodes.ObjectNotInPrerequisiteState } refused => new KitException(
            $"Table {ErrorQueue.Of(name)} has no key, and a publication of its database publishes deletions: {refused.MessageText}.",
            $"Run this once, as the table's owner: ALTER TABLE {Quoted(ErrorQueue.Of(name))} ADD PRIMARY KEY (position, failed_at)", refused),
        NpgsqlException unreachable => PostgreSqlFacts.Explain(unreachable, address),
        _ => null,
    };

    private static string Quoted(string table) => $"\"{table.Replace("\"", "\"\"", StringComparison.Ordinal)}\"";
}
