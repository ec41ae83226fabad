using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// How an endpoint reaches a database: by a connection string, of which it makes what its mode needs, or by a data source of the application's,
/// which it uses as it is and does not dispose.
/// </summary>
internal sealed class DatabaseAccess
{
    private readonly NpgsqlDataSource? given;

    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    public DatabaseAccess(string connectionString) => Settings = new NpgsqlConnectionStringBuilder(connectionString);

    public DatabaseAccess(NpgsqlDataSource given)
    {
        ArgumentNullException.ThrowIfNull(given);
        this.given = given;
        Settings = new NpgsqlConnectionStringBuilder(given.ConnectionString);
    }

    /// <summary>A queue's session has settings, locks and a prepared statement of its own, and keeps them to itself.</summary>
    /// <param name="parameter">What the caller named it.</param>
    /// <exception cref="ArgumentException">Sessions of the data source that was given are not like that.</exception>
    public DatabaseAccess ForSessions(string parameter)
    {
        if (IsGiven && Settings.Multiplexing)
        {
            throw new ArgumentException(
                "A data source with Multiplexing shares one session among commands, and a queue needs sessions: give another one.", parameter);
        }

        if (IsGiven && Settings.NoResetOnClose)
        {
            throw new ArgumentException(
                "A data source with No Reset On Close leaves the queue's session settings to the next user: give another one.", parameter);
        }

        return this;
    }

    /// <summary>
    /// In <c>dtc-off</c> the lent connection is in a transaction of the endpoint's behind the ambient one. Libraries read in its connection string
    /// whether it joined the ambient one, Entity Framework Core for example, and refuse to work on it where it says so.
    /// </summary>
    /// <exception cref="InvalidOperationException">The data source that was given says so.</exception>
    public void RequireNoEnlistment(BareEndpointBuilder endpoint)
    {
        if (IsGiven && Settings.Enlist && endpoint.Mode == TransactionMode.DtcOff)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' in {endpoint.Mode} needs a data source that does not enlist: found Enlist=true, which is the driver's default. " +
                "Add Enlist=false to the data source's connection string, or give a connection string.");
        }
    }

    /// <summary>What the connection string says; without a password where a data source was given.</summary>
    public NpgsqlConnectionStringBuilder Settings { get; }

    public bool IsGiven => given is not null;

    /// <summary>Whether both lead to one database in one way: as the same user, with the same settings.</summary>
    public bool IsSameAs(DatabaseAccess other) => given == other.given && Settings.EquivalentTo(other.Settings);

    /// <summary>The data source that was given, or a new one.</summary>
    /// <param name="enlist">Whether connections of a new one join the ambient transaction. Those of a given one are kept from it where they are opened.</param>
    /// <param name="make">Makes a new one; as the connection string says when not given.</param>
    public OpenedSource Open(bool enlist, Func<string, NpgsqlDataSource>? make = null) => given is null
        ? new OpenedSource((make ?? NpgsqlDataSource.Create)(Text(enlist)), isOwn: true)
        : new OpenedSource(given, isOwn: false);

    /// <summary>
    /// A connection apart from the pool where there is a connection string: workers can hold every connection of that for as long as they run.
    /// </summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async ValueTask<NpgsqlConnection> OpenApartAsync(CancellationToken cancellationToken)
    {
        if (given is not null)
            return await given.OpenConnectionAsync(cancellationToken);

        var opened = new NpgsqlConnection(new NpgsqlConnectionStringBuilder(Text(enlist: false)) { Pooling = false }.ConnectionString);
        try
        {
            await opened.OpenAsync(cancellationToken);
            return opened;
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    /// <summary>The same database, at one address of several.</summary>
    /// <exception cref="InvalidOperationException">A data source was given.</exception>
    public DatabaseAccess At(string? host, int port) =>
        new(new NpgsqlConnectionStringBuilder(Text(enlist: false)) { Host = host, Port = port }.ConnectionString);

    /// <summary>
    /// The same, with sessions that commit without waiting for the log. As an option of the connection, so that the driver's reset of a session keeps
    /// it.
    /// </summary>
    /// <exception cref="InvalidOperationException">A data source was given.</exception>
    public DatabaseAccess CommittingAsynchronously()
    {
        var settings = new NpgsqlConnectionStringBuilder(Text(enlist: false));
        settings.Options = $"{settings.Options} -c synchronous_commit=off".TrimStart();
        return new DatabaseAccess(settings.ConnectionString);
    }

    /// <exception cref="InvalidOperationException">A data source was given.</exception>
    public string Text(bool enlist) => given is null
        ? new NpgsqlConnectionStringBuilder(Settings.ConnectionString) { Enlist = enlist }.ConnectionString
        : throw new InvalidOperationException("Expected a connection string, found a data source.");
}
