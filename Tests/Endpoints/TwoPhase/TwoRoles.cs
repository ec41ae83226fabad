using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>The role that an endpoint had, and the one that it has now; both may insert widgets.</summary>
internal sealed class TwoRoles : IAsyncDisposable
{
    private const string Password = "secret";

    private readonly string widgets;
    private readonly string id = $"{Guid.NewGuid():N}";

    private TwoRoles(string widgets) => this.widgets = widgets;

    public string NameBefore => $"before_{id}";

    public string Before => As(NameBefore);

    public string After => As(NameAfter);

    private string NameAfter => $"after_{id}";

    public static async Task<TwoRoles> CreateAsync(string widgets)
    {
        var roles = new TwoRoles(widgets);
        foreach (var name in new[] { roles.NameBefore, roles.NameAfter })
            await TestDatabases.ExecuteAsync(widgets, $"CREATE ROLE {name} LOGIN PASSWORD '{Password}'; GRANT INSERT ON widget TO {name}");

        return roles;
    }

    public Task GrantAsync() => TestDatabases.ExecuteAsync(widgets, $"GRANT {NameBefore} TO {NameAfter}");

    public async ValueTask DisposeAsync() =>
        await TestDatabases.ExecuteAsync(widgets, $"DROP OWNED BY {NameBefore}, {NameAfter}; DROP ROLE {NameBefore}, {NameAfter}");

    private string As(string role) => new NpgsqlConnectionStringBuilder(widgets) { Username = role, Password = Password, Pooling = false }.ConnectionString;
}
