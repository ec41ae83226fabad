using BenchmarkDotNet.Attributes;
using Kit.Handlers;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Benchmarks.Micro;

/// <summary>One insert of one widget with each access library, on an open connection in autocommit.</summary>
[MemoryDiagnoser]
public class InsertOfOneWidget : IAsyncDisposable
{
    private readonly NpgsqlParameter<long> id = new();
    private readonly NpgsqlParameter<Guid> messageId = new();
    private RoundDatabases restored = null!;
    private NpgsqlConnection connection = null!;
    private NpgsqlCommand prepared = null!;
    private IWidgetInsert insert = null!;

    /// <summary>The server of the benchmark.</summary>
    internal static BenchmarkServer? Server { get; set; }

    public static IEnumerable<string> Libraries => AccessLibrary.All.Where(library => library.Support.IsSupported).Select(library => library.Name);

    [GlobalSetup(Targets = [nameof(RawAsync), nameof(RawAtRandomAsync)])]
    public void Prepare() => PrepareAsync().GetAwaiter().GetResult();

    /// <summary>The floor: one command, prepared once, its parameters typed and used again.</summary>
    [Benchmark(Baseline = true, Description = "raw prepared command")]
    public Task<int> RawAsync() => InsertRawAsync(WidgetId.Next());

    /// <summary>The same row anywhere in the index, instead of at its end.</summary>
    [Benchmark(Description = "raw prepared command, random id")]
    public Task<int> RawAtRandomAsync() => InsertRawAsync(Random.Shared.NextInt64());

    [GlobalSetup(Target = nameof(InsertAsync))]
    public void Open() => OpenAsync().GetAwaiter().GetResult();

    [Benchmark(Description = "insert")]
    [ArgumentsSource(nameof(Libraries))]
    public Task InsertAsync(string access)
    {
        insert ??= AccessLibrary.All.Single(library => library.Name == access).CreateInsert();
        return insert.InsertAsync(connection, null, new Widget(WidgetId.Next(), Guid.NewGuid()), CancellationToken.None);
    }

    [GlobalCleanup]
    public void Close() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    public async ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        if (prepared is not null)
            await prepared.DisposeAsync();
        // The session ends with its database, and the next benchmark's database has the same connection string.
        NpgsqlConnection.ClearPool(connection);
        await connection.DisposeAsync();
        await restored.DisposeAsync();
    }

    private Task<int> InsertRawAsync(long ofRow)
    {
        id.TypedValue = ofRow;
        messageId.TypedValue = Guid.NewGuid();
        return prepared.ExecuteNonQueryAsync();
    }

    private async Task PrepareAsync()
    {
        await OpenAsync();
        prepared = new NpgsqlCommand("INSERT INTO widget (id, message_id) VALUES ($1, $2)", connection) { Parameters = { id, messageId } };
        await prepared.PrepareAsync();
    }

    private async Task OpenAsync()
    {
        restored = await Server!.Databases.RestoreAsync(CancellationToken.None);
        connection = new NpgsqlConnection(restored.WidgetsForEndpoint);
        await connection.OpenAsync();
        // The flush of a commit takes much longer than the library and is the same for all: it would hide the difference in noise.
        await using var withoutFlush = new NpgsqlCommand("SET synchronous_commit = off", connection);
        await withoutFlush.ExecuteNonQueryAsync();
    }
}
