using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Runner.Operations;

/// <summary>Dead letters of a bare endpoint's queue in a database of the user's.</summary>
internal sealed class DeadLettersOnPostgreSql : IDeadLetters
{
    private readonly NpgsqlDataSource source;
    private readonly PostgreSqlQueue queue;
    private readonly string address;
    private readonly string name;

    /// <param name="connectionString">The queue's database.</param>
    /// <param name="name">The queue's name.</param>
    /// <exception cref="KitException">The connection string cannot be read, or the name is too long.</exception>
    public DeadLettersOnPostgreSql(string connectionString, string name)
    {
        var settings = PostgreSqlFacts.Parse(connectionString);
        (this.name, address) = (name, PostgreSqlFacts.AddressOf(settings));
        source = NpgsqlDataSource.Create(settings);
        try
        {
            queue = new PostgreSqlQueue(source, name);
        }
        catch (ArgumentException unusable)
        {
            throw new KitException(
                $"No queue can have that name: {unusable.Message}", "Name the queue as its endpoint is named.", unusable);
        }
    }

    public Task<IReadOnlyList<DeadLetter>> ReadAsync(CancellationToken cancellationToken) =>
        OnQueueAsync(() => queue.ReadErrorsAsync(cancellationToken), cancellationToken);

    public Task<IReadOnlyList<Guid>> ReturnAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken) =>
        OnQueueAsync(() => queue.ReturnErrorsAsync(messageIds, cancellationToken), cancellationToken);

    public ValueTask DisposeAsync() => source.DisposeAsync();

    private async Task<T> OnQueueAsync<T>(Func<Task<T>> work, CancellationToken cancellationToken)
    {
        try
        {
            return await queue.ExistsAsync(cancellationToken)
                ? await work()
                : throw new KitException(
                    $"There is no queue '{name}' there: expected the tables {name} and {name}_error, looked in {address}.",
                    "Name the queue as its endpoint is named (upper and lower case differ), and its own database: Database=… in the " +
                    "connection string.");
        }
        catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            throw new KitException(
                $"The role lacks a right on the queue's tables: {address}: {refused.MessageText}.",
                $"Connect as the endpoint's role, or grant SELECT and DELETE on {name}_error and INSERT on {name}.", refused);
        }
        catch (NpgsqlException failure)
        {
            throw PostgreSqlFacts.Explain(failure, address);
        }
    }
}
