using System.Diagnostics;
using System.Net.Http.Headers;
using System.Text;
using Kit.Prove.Files;
using Kit.Runner.Results;

namespace Kit.Prove.Service;

/// <summary>Sends messages in the way that the file gives. A failed send is tried again: an application that starts is not there at once.</summary>
/// <param name="own">Its own connections, disposed with it; <see langword="null"/>: it shares those of the bed.</param>
internal sealed class Sender(ProofFile file, ProofBed bed, SendersOwn? own = null) : IAsyncDisposable
{
    /// <summary>Time for which a message can be refused before that is an error.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(300);
    private const int MostUnconfirmed = 100;

    private static readonly TimeSpan ToAnswer = TimeSpan.FromSeconds(10);

    private readonly HttpClient http = new(new SocketsHttpHandler { UseProxy = false }) { Timeout = ToAnswer };
    private readonly CancellationTokenSource disposed = new();
    private readonly List<Task> requests = [];
    private volatile string? why;

    /// <summary>
    /// Requests that have not been accepted, as a text; <see langword="null"/> if there are none. A request is repeated until it is answered with 200 to
    /// 299 or a status of the file, as a careful client does; the other ways to send wait for that themselves.
    /// </summary>
    public string? Refused => requests.Count(request => !request.IsCompletedSuccessfully) is > 0 and var open
        ? $"requests not accepted: {open}{(why is null ? "" : $" ({why})")}"
        : null;

    /// <exception cref="KitException">It was refused for a minute.</exception>
    public async Task SendAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken)
    {
        requests.RemoveAll(request => request.IsCompletedSuccessfully);
        foreach (var message in messages)
        {
            // The application answers when it has handled the message, and it may be unable to ask its servers now.
            if (file.Send is SendByHttp)
                requests.Add(RequestAsync(message));
            else
                await UntilAcceptedAsync(message, Patience, cancellationToken);
        }
    }

    /// <summary>Sends many messages while the application does not run.</summary>
    /// <exception cref="KitException">One was refused, or the application itself would have to accept them.</exception>
    public async Task PutAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken)
    {
        switch (file.Send)
        {
            case SendBySql(var database, var sql):
                var direct = bed.Direct;
                await bed.ExecuteAllAsync(database, messages.Select(message => direct.Fill(sql, message)), cancellationToken);
                break;
            case SendToQueue:
                foreach (var some in messages.Chunk(MostUnconfirmed))
                    await Task.WhenAll(some.Select(message => UntilAcceptedAsync(message, Patience, cancellationToken)));
                break;
            case SendByCommand:
                await Parallel.ForEachAsync(
                    messages, cancellationToken, async (message, stop) => await UntilAcceptedAsync(message, Patience, stop));
                break;
            default:
                throw new InvalidOperationException($"No such way to send to an application that does not run: {file.Send}.");
        }
    }

    /// <summary>Sends messages one after the other, each until it is accepted, also by an application that is asked over HTTP.</summary>
    /// <exception cref="KitException">One was refused for too long.</exception>
    public async Task SendEachAsync(IEnumerable<Guid> messages, CancellationToken cancellationToken)
    {
        foreach (var message in messages)
            await UntilAcceptedAsync(message, Patience, cancellationToken);
    }

    /// <summary>Sends a message until it is accepted or given up, also by an application that is asked over HTTP.</summary>
    /// <param name="isRepeated">Called with the reason of each refusal; false: it is given up.</param>
    public async Task SendOneAsync(Guid message, Func<string, bool> isRepeated, CancellationToken cancellationToken)
    {
        var statement = new RefusedStatement();
        while (await TryAsync(message, statement, cancellationToken) is { } refusal && isRepeated(refusal))
            await Task.Delay(Pause, cancellationToken);
    }

    /// <summary>Tries once. A command can fail because the application does not run.</summary>
    /// <exception cref="KitException">The statement is wrong.</exception>
    public Task TrySendAsync(Guid message, CancellationToken cancellationToken) => TryAsync(message, new RefusedStatement(), cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await disposed.CancelAsync();
        foreach (var request in requests)
            await request.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        http.Dispose();
        if (own is not null)
            await own.DisposeAsync();
        disposed.Dispose();
    }

    private Task RequestAsync(Guid message) => UntilAcceptedAsync(message, Timeout.InfiniteTimeSpan, disposed.Token);

    private Task UntilAcceptedAsync(Guid message, TimeSpan limit, CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        return SendOneAsync(
            message,
            refusal =>
            {
                why = refusal;
                return limit == Timeout.InfiniteTimeSpan || watch.Elapsed <= limit
                    ? true
                    : throw new KitException(
                        $"{file.Path}: a message could not be sent within {limit.TotalSeconds} s: {refusal.TrimEnd('.')}.",
                        "Correct 'send', or the application.")
                    { IsUsage = true };
            },
            cancellationToken);
    }

    /// <returns>The reason why it was not accepted; <see langword="null"/> if it was.</returns>
    private async Task<string?> TryAsync(Guid message, RefusedStatement statement, CancellationToken cancellationToken)
    {
        var texts = bed.Direct;
        try
        {
            switch (file.Send)
            {
                case SendBySql(var database, var sql):
                    await ExecuteAsync(database, texts.Fill(sql, message), cancellationToken);
                    return null;
                case SendToQueue to:
                    var headers = to.Headers.ToDictionary(header => header.Key, header => texts.Fill(header.Value, message));
                    await (own?.Queues ?? bed.Queues).SendAsync(to.Queue, message, texts.Fill(to.Body, message), to.ContentType, headers, cancellationToken);
                    return null;
                case SendByHttp to:
                    return await RequestAsync(to, texts, message, cancellationToken);
                case SendByCommand(var program):
                    return await ApplicationProcess.RunAsync(program, texts, message, "send", Patience, cancellationToken);
                default:
                    throw new InvalidOperationException($"No such way to send: {file.Send}.");
            }
        }
        catch (Npgsql.PostgresException wrong) when (statement.IsWrong(wrong))
        {
            throw new KitException(
                $"{file.Path}: the statement of 'send' is wrong: {RefusedStatement.TextOf(wrong)}.", "Correct 'send.sql'.", wrong)
            { IsUsage = true };
        }
        catch (Npgsql.PostgresException refusal)
        {
            return RefusedStatement.TextOf(refusal);
        }
        catch (Exception failure) when (failure is Npgsql.NpgsqlException or HttpRequestException or KitException { IsUsage: false })
        {
            return KitException.TextOf(failure);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return $"there was no answer within {ToAnswer.TotalSeconds} s";
        }
    }

    private async Task ExecuteAsync(string database, string sql, CancellationToken cancellationToken)
    {
        if (own?.Connection is not { } connection)
        {
            await bed.ExecuteAsync(database, sql, cancellationToken);
            return;
        }

        await using var command = new Npgsql.NpgsqlCommand(sql, connection);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task<string?> RequestAsync(SendByHttp to, Placeholders texts, Guid message, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(new HttpMethod(to.Method), texts.Fill(to.Url, message));
        if (to.Body.Length > 0)
        {
            request.Content = new StringContent(texts.Fill(to.Body, message), Encoding.UTF8);
            request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(to.ContentType);
        }

        using var answer = await http.SendAsync(request, cancellationToken);
        return answer.IsSuccessStatusCode || to.Accepted.Contains((int)answer.StatusCode) ? null : $"the application answered {(int)answer.StatusCode}";
    }
}
