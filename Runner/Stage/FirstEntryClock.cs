using Kit.Handlers;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Stage;

/// <summary>
/// Wraps the handler and asks the database's clock when the first message has reached it. For a process on another machine, whose own clock is not
/// compared with any other. The question is asked next to the handler, so it delays no message. It reaches the server a little after the message has
/// reached the handler.
/// </summary>
internal sealed class FirstEntryClock : IAsyncDisposable
{
    private readonly HandleMessage handle;
    private readonly NpgsqlConnection connection;
    private readonly NpgsqlCommand question;
    private Task<DateTimeOffset>? answer;
    private int entered;

    private FirstEntryClock(HandleMessage handle, NpgsqlConnection connection)
    {
        this.handle = handle;
        this.connection = connection;
        question = new NpgsqlCommand("SELECT clock_timestamp()", connection);
    }

    /// <param name="widgets">Connection string of the database with the clock.</param>
    public static async Task<FirstEntryClock> OpenAsync(HandleMessage handle, string widgets)
    {
        var clock = new FirstEntryClock(handle, new NpgsqlConnection(EndpointConnections.ForRunner(widgets)));
        try
        {
            await clock.connection.OpenAsync();
            await clock.question.PrepareAsync();
            // The first use of code costs time, and the first message must not pay it.
            await clock.AskAsync();
            return clock;
        }
        catch
        {
            await clock.DisposeAsync();
            throw;
        }
    }

    public Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref entered, 1) == 0)
            Volatile.Write(ref answer, AskAsync());

        return handle(message, context, cancellationToken);
    }

    /// <summary>Time at which the first message reached the handler, by the database's clock; <see langword="null"/>: none did.</summary>
    public async Task<DateTimeOffset?> ReadAsync() => Volatile.Read(ref answer) is { } asked ? await asked : null;

    public async ValueTask DisposeAsync()
    {
        await question.DisposeAsync();
        await connection.DisposeAsync();
    }

    private async Task<DateTimeOffset> AskAsync()
    {
        await using var reader = await question.ExecuteReaderAsync();
        await reader.ReadAsync();
        return await reader.GetFieldValueAsync<DateTimeOffset>(0);
    }
}
