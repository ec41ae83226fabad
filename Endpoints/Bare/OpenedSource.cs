using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>A data source that an endpoint uses. The endpoint disposes it only if it created it.</summary>
internal sealed class OpenedSource(NpgsqlDataSource source, bool isOwn) : IAsyncDisposable
{
    public NpgsqlDataSource Source => source;

    public ValueTask DisposeAsync() => isOwn ? source.DisposeAsync() : ValueTask.CompletedTask;
}
