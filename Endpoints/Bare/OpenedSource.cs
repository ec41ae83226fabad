using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>A data source that an endpoint works with, and disposes where it made it.</summary>
internal sealed class OpenedSource(NpgsqlDataSource source, bool isOwn) : IAsyncDisposable
{
    public NpgsqlDataSource Source => source;

    public ValueTask DisposeAsync() => isOwn ? source.DisposeAsync() : ValueTask.CompletedTask;
}
