using BenchmarkDotNet.Attributes;
using Kit.Handlers;
using Npgsql;

namespace Kit.Benchmarks.Inserts;

/// <summary>One insert of one widget with each access library, on an open connection in autocommit.</summary>
[MemoryDiagnoser]
public class InsertOfOneWidget : IAsyncDisposable
{
    /// <summary>The environment variable that holds the connection string: BenchmarkDotNet creates its own instances of this type.</summary>
    public const string ConnectionVariable = "KIT_BENCHMARK_WIDGETS";

    private readonly NpgsqlParameter<long> id = new();
    private readonly NpgsqlParameter<Guid> messageId = new();
    private NpgsqlConnection connection = null!;
    private NpgsqlCommand prepared = null!;
    private IWidgetInsert insert = null!;

    public static IEnumerable<string> Libraries => AccessLibrary.All.Where(library => library.Support.IsSupported).Select(library => library.Name);

    [GlobalSetup(Target = nameof(RawAsync))]
    public async Task PrepareAsync()
    {
        await OpenAsync();
        prepared = new NpgsqlCommand("INSERT INTO widget (id, message_id) VALUES ($1, $2)", connection) { Parameters = { id, messageId } };
        await prepared.PrepareAsync();
    }

    /// <summary>The floor: one command, prepared once, its parameters typed and used again.</summary>
    [Benchmark(Baseline = true, Description = "raw prepared command")]
    public Task<int> RawAsync()
    {
        id.TypedValue = WidgetId.Next();
        messageId.TypedValue = Guid.NewGuid();
        return prepared.ExecuteNonQueryAsync();
    }

    [GlobalSetup(Target = nameof(InsertAsync))]
    public Task OpenAnyAsync() => OpenAsync();

    [Benchmark(Description = "insert")]
    [ArgumentsSource(nameof(Libraries))]
    public Task InsertAsync(string access)
    {
        insert ??= AccessLibrary.All.Single(library => library.Name == access).CreateInsert();
        return insert.InsertAsync(connection, null, new Widget(WidgetId.Next(), Guid.NewGuid()), CancellationToken.None);
    }

    [GlobalCleanup]
    public async ValueTask DisposeAsync()
    {
        GC.SuppressFinalize(this);
        if (prepared is not null)
            await prepared.DisposeAsync();
        await connection.DisposeAsync();
    }

    private async Task OpenAsync()
    {
        connection = new NpgsqlConnection(Environment.GetEnvironmentVariable(ConnectionVariable));
        await connection.OpenAsync();
        // The flush of a commit takes much longer than the library and is the same for all: it would hide the difference in noise.
        await using var withoutFlush = new NpgsqlCommand("SET synchronous_commit = off", connection);
        await withoutFlush.ExecuteNonQueryAsync();
    }
}
