using System.Data.Common;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// How an endpoint reaches a database: with a connection string, which it adapts to its mode, or with the application's data source, which it
/// uses unchanged and does not dispose.
/// </summary>
internal sealed class DatabaseAccess
{
    private static readonly string[] Primaries = ["primary", "read-write"];

    private readonly NpgsqlDataSource? given;

    /// <exception cref="ArgumentException">The connection string cannot be read, or names several hosts and does not ask for the primary.</exception>
    public DatabaseAccess(string connectionString)
    {
        Settings = new NpgsqlConnectionStringBuilder(connectionString);
        RequirePrimary(nameof(connectionString));
        if (!HasSeveralHosts)
            return;

        // For that long the driver believes that a host is a standby or away, by default 10 s: longer than most promotions take.
        var named = new DbConnectionStringBuilder { ConnectionString = connectionString };
        if (!named.ContainsKey("Host Recheck Seconds") && !named.ContainsKey(nameof(Settings.HostRecheckSeconds)))
            Settings.HostRecheckSeconds = 1;
    }

    /// <exception cref="ArgumentException">The data source names several hosts, and its connection string does not ask for the primary.</exception>
    public DatabaseAccess(NpgsqlDataSource given)
    {
        ArgumentNullException.ThrowIfNull(given);
        this.given = given;
        Settings = new NpgsqlConnectionStringBuilder(given.ConnectionString);
        RequirePrimary(nameof(given));
    }

    /// <summary>
    /// Requires sessions that are not shared: a queue's session has its own settings, locks and prepared statement, and the driver never resets a shared one,
    /// so that a handler's role or search path would be another's.
    /// </summary>
    /// <param name="parameter">The caller's name for it.</param>
    /// <exception cref="ArgumentException">The data source shares sessions, or the connection string says so.</exception>
    public DatabaseAccess ForSessions(string parameter)
    {
        if (Settings.Multiplexing)
        {
            throw new ArgumentException(
                $"A {(IsGiven ? "data source" : "connection string")} with Multiplexing=true shares sessions among commands, and an endpoint and its " +
                $"handlers need their own. {(IsGiven ? "Pass a data source without it." : "Take Multiplexing out of it.")}",
                parameter);
        }

        return this;
    }

    /// <summary>The same for a queue, whose settings stay in its sessions.</summary>
    /// <param name="parameter">The caller's name for it.</param>
    /// <exception cref="ArgumentException">The data source shares sessions or their settings, or the connection string says so.</exception>
    public DatabaseAccess ForQueue(string parameter)
    {
        if (IsGiven && Settings.NoResetOnClose)
        {
            throw new ArgumentException(
                "A data source with No Reset On Close passes the queue's session settings on to the next user: pass a data source without it.", parameter);
        }

        return ForSessions(parameter);
    }

    /// <summary>
    /// Where an ambient transaction covers the handler alone (<c>dtc-off</c>), the lent connection is in a local transaction that the endpoint ends with the
    /// ambient one. Libraries such as Entity Framework Core refuse to work on it if its connection string says that it enlists in the ambient one.
    /// </summary>
    /// <exception cref="InvalidOperationException">The given data source enlists.</exception>
    public void RequireNoEnlistment(BareEndpointBuilder endpoint)
    {
        if (IsGiven && Settings.Enlist && endpoint.Mode is { CommitOrder.HasAmbientTransaction: true, IsOneUnit: false })
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' in {endpoint.Mode} needs a data source that does not enlist, and found Enlist=true, the driver's default. " +
                "Add Enlist=false to the data source's connection string, or pass a connection string instead.");
        }
    }

    /// <summary>The settings of the connection string; without the password if a data source was given.</summary>
    public NpgsqlConnectionStringBuilder Settings { get; }

    public bool IsGiven => given is not null;

    public bool HasSeveralHosts => Settings.Host?.Contains(',', StringComparison.Ordinal) is true;

    /// <summary>Whether both reach the same database in the same way: as the same user, with the same settings.</summary>
    public bool IsSameAs(DatabaseAccess other) => given == other.given && Settings.EquivalentTo(other.Settings);

    /// <summary>The data source that was given, or a new one.</summary>
    /// <param name="enlist">Whether connections of a new one join the ambient transaction. Callers keep those of a given one out of it.</param>
    /// <param name="make">Creates a new one; the default uses the connection string unchanged.</param>
    public OpenedSource Open(bool enlist, Func<string, NpgsqlDataSource>? make = null) => given is null
        ? new OpenedSource((make ?? NpgsqlDataSource.Create)(Text(enlist)), isOwn: true)
        : new OpenedSource(given, isOwn: false);

    /// <summary>
    /// Opens a connection outside of the pool if there is a connection string, because the workers can hold all of the pool's connections.
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

    /// <summary>Lets the server notice in about a minute that this machine is gone. Where a data source was given, its owner does that.</summary>
    public void KeepAlive()
    {
        if (!IsGiven)
            Keepalive.AddTo(Settings);
    }

    /// <summary>The same database, at one of its addresses.</summary>
    /// <exception cref="InvalidOperationException">A data source was given.</exception>
    public DatabaseAccess At(string? host, int port) =>
        new(new NpgsqlConnectionStringBuilder(Text(enlist: false)) { Host = host, Port = port, TargetSessionAttributes = null }.ConnectionString);

    /// <summary>
    /// The same, with sessions that commit without waiting for the log. As an option of the connection, so that the driver's reset of a session keeps
    /// it.
    /// </summary>
    /// <exception cref="InvalidOperationException">A data source was given.</exception>
    public DatabaseAccess CommittingAsynchronously()
    {
        var settings = new NpgsqlConnectionStringBuilder(Text(enlist: false));
        settings.Options = $"{Keepalive.OptionsOf(settings)} -c synchronous_commit=off".TrimStart();
        return new DatabaseAccess(settings.ConnectionString);
    }

    /// <exception cref="InvalidOperationException">A data source was given.</exception>
    public string Text(bool enlist) => given is null
        ? new NpgsqlConnectionStringBuilder(Settings.ConnectionString) { Enlist = enlist }.ConnectionString
        : throw new InvalidOperationException("Expected a connection string, found a data source.");

    private void RequirePrimary(string parameter)
    {
        if (!HasSeveralHosts || Primaries.Contains(Settings.TargetSessionAttributes, StringComparer.OrdinalIgnoreCase))
            return;

        throw new ArgumentException(
            $"The {(IsGiven ? "data source" : "connection string")} names several hosts, and an endpoint must write. Add Target Session Attributes=primary " +
            $"(or read-write){(IsGiven ? " to its connection string, which does not show WithTargetSession" : "")}, so that the driver looks for the primary.",
            parameter);
    }
}
