using System.Net;
using Kit.Runner.Servers;
using Kit.Runner.Wire;

namespace Kit.Prove.Service;

/// <summary>
/// An HTTP endpoint of the kit, which an application calls instead of a service outside. It answers each call with 200 and an empty JSON object, and
/// remembers it.
/// </summary>
internal sealed class CallCounter : IAsyncDisposable
{
    /// <summary>The length of a body that is searched for the id.</summary>
    private const int MostCharacters = 65_536;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    /// <summary>
    /// Time after which a client's earlier bytes are at the proxy, which reads another socket: an acknowledgement has no answer that the client waits for.
    /// </summary>
    private static readonly TimeSpan Behind = TimeSpan.FromMilliseconds(100);

    private readonly HttpListener listener = new();
    private readonly CancellationTokenSource disposed = new();
    private readonly List<(string Path, SeenEffect Call)> calls = [];
    private readonly List<string> refused = [];
    private readonly RequestGate gate;
    private readonly Task answering;

    /// <param name="gate">Gate of the application's other requests. While it lets nothing pass, calls are not counted.</param>
    public CallCounter(RequestGate gate)
    {
        this.gate = gate;
        Address = new Uri($"http://127.0.0.1:{LoopbackPorts.Free(1)[0]}");
        listener.Prefixes.Add(Address.AbsoluteUri);
        listener.Start();
        answering = AnswerAllAsync();
    }

    public Uri Address { get; }

    /// <summary>Called with the path and the text of each call that counts; it must be quick.</summary>
    public Action<string, SeenEffect>? Called { get; set; }

    /// <summary>Every call so far: method, path with query, and body, as one text.</summary>
    /// <param name="path">The beginning of the calls' paths.</param>
    public IReadOnlyList<string> Read(string path) => [.. ReadSeen(path).Select(call => call.Text)];

    /// <summary>The same with the moments at which they came.</summary>
    /// <inheritdoc cref="Read" path="/param"/>
    public IReadOnlyList<SeenEffect> ReadSeen(string path)
    {
        lock (calls)
            return [.. calls.Where(call => call.Path.StartsWith(path, StringComparison.Ordinal)).Select(call => call.Call)];
    }

    /// <summary>The paths of the calls since the last time that came around a moment at which nothing passed, and were refused.</summary>
    public IReadOnlyList<string> TakeRefused()
    {
        lock (refused)
        {
            List<string> paths = [.. refused];
            refused.Clear();
            return paths;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await disposed.CancelAsync();
        listener.Close();
        await answering;
        disposed.Dispose();
    }

    private async Task AnswerAllAsync()
    {
        var open = new List<Task>();
        try
        {
            while (true)
            {
                var call = await listener.GetContextAsync();
                open.RemoveAll(one => one.IsCompleted);
                open.Add(AnswerAsync(call));
            }
        }
        catch (Exception closed) when (disposed.IsCancellationRequested && closed is HttpListenerException or ObjectDisposedException)
        {
            await Task.WhenAll(open);
        }
    }

    private async Task AnswerAsync(HttpListenerContext call)
    {
        var before = gate.Freezes;
        try
        {
            if (gate.IsFrozen)
            {
                await RefuseAsync(call);
                return;
            }

            var body = new char[MostCharacters];
            using var reader = new StreamReader(call.Request.InputStream);
            var length = await reader.ReadBlockAsync(body, disposed.Token);
            await LetEarlierRequestsPassAsync();
            if (!Count(call.Request, new string(body, 0, length), before))
            {
                await RefuseAsync(call);
                return;
            }

            call.Response.ContentType = "application/json";
            // The listener ends a connection that is not used for 15 seconds. A client that keeps it would meet a fault that nobody chose.
            call.Response.KeepAlive = false;
            call.Response.Close("{}"u8.ToArray(), willBlock: false);
        }
        catch (Exception gone) when (gone is HttpListenerException or IOException or ObjectDisposedException or OperationCanceledException)
        {
            // The application was killed, or the kit ends. What was counted stays.
            call.Response.Abort();
        }
    }

    /// <summary>Waits for the requests that the client sent before the call, which must not be seen before them.</summary>
    private async Task LetEarlierRequestsPassAsync()
    {
        if (gate.IsArmed)
            await Task.Delay(Behind, disposed.Token);
        while (gate.IsProving)
            await Task.Delay(Pause, disposed.Token);
    }

    /// <returns>True if it counts. The application can have been stopped since the call came, and killed since then.</returns>
    private bool Count(HttpListenerRequest request, string body, int freezesBefore)
    {
        lock (calls)
        {
            if (gate.IsFrozen || gate.Freezes != freezesBefore)
                return false;

            var call = (Path: request.Url!.AbsolutePath, Seen: new SeenEffect($"{request.HttpMethod} {request.RawUrl} {body}", DateTimeOffset.UtcNow));
            calls.Add(call);
            Called?.Invoke(call.Path, call.Seen);
            return true;
        }
    }

    /// <summary>Nothing of the application arrives any more: it is about to be killed. A process that survives may call again.</summary>
    private async Task RefuseAsync(HttpListenerContext call)
    {
        lock (refused)
            refused.Add(call.Request.Url!.AbsolutePath);
        while (gate.IsFrozen)
            await Task.Delay(Pause, disposed.Token);
        call.Response.StatusCode = (int)HttpStatusCode.ServiceUnavailable;
        call.Response.Close();
    }
}
