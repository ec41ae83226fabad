using System.Text;

namespace Kit.Runner.Wire;

/// <summary>The end of the server's answer to a request.</summary>
internal enum PostgreSqlEnd
{
    /// <summary>It does not answer.</summary>
    None,

    /// <summary>The completion of one command of several.</summary>
    Command,

    /// <summary>The frame <c>ReadyForQuery</c>.</summary>
    Ready,
}

/// <summary>The requests of one connection to PostgreSQL that wait for an answer, in the order in which the server answers them.</summary>
internal sealed class PostgreSqlAnswers
{
    private const byte Idle = (byte)'I';
    private const string Skipped = "skipped";

    private readonly List<(WireRequest Request, PostgreSqlEnd End)> waiting = [];
    private int transaction;
    private bool isOpen;
    private bool isSkipping;

    public bool IsSettled => waiting.Count == 0;

    /// <inheritdoc cref="IWireProtocol.OpenTransaction"/>
    public int? OpenTransaction => isOpen ? transaction : null;

    /// <summary>The request that is answered next.</summary>
    public WireRequest? Next => IsSettled ? null : waiting[0].Request;

    /// <summary>True if the server keeps answers until a Sync or a Flush comes.</summary>
    public bool AwaitsSync => waiting.Count > 0 && waiting[^1].End is PostgreSqlEnd.Command;

    /// <summary>True if both sides send data, as in replication. The client's data then has no answer.</summary>
    public bool IsStreaming { get; private set; }

    /// <summary>The last statement that asked the client for data.</summary>
    public string Copied { get; private set; } = "copy";

    /// <summary>The end of the answer to that data.</summary>
    public PostgreSqlEnd EndOfCopy { get; private set; } = PostgreSqlEnd.Ready;

    /// <summary>True if an error has ended the last copy: the server drops the rest of the client's data, also after <c>ReadyForQuery</c>.</summary>
    public bool DropsData { get; private set; }

    public void Await(WireRequest request, PostgreSqlEnd end)
    {
        request.Transaction = transaction;
        if (end is not PostgreSqlEnd.None)
            waiting.Add((request, end));
    }

    /// <summary>Lets the answer to the last execution end with <c>ReadyForQuery</c>, or awaits that alone if there is none.</summary>
    public void EndWithSync()
    {
        if (AwaitsSync)
            waiting[^1] = (waiting[^1].Request, PostgreSqlEnd.Ready);
        else
            Await(new WireRequest("sync", hasAnswer: true), PostgreSqlEnd.Ready);
    }

    /// <summary>Sees a frame of the server.</summary>
    /// <returns>The requests whose answers are complete with it.</returns>
    public IReadOnlyList<WireRequest> See(byte type, ReadOnlySpan<byte> body)
    {
        // Also before any data have come, so that nothing waits for an answer.
        DropsData = (char)type is 'E' || (DropsData && (char)type is not 'G');
        if (IsSettled)
            return [];

        var (request, end) = waiting[0];
        switch ((char)type)
        {
            // Of several commands in one text, the last answer is the outcome, and any can end the transaction.
            case 'C':
                request.Outcome = TextOf(body);
                request.Commands.Add(request.Outcome);
                return end is PostgreSqlEnd.Command ? [Complete()] : [];
            case 'I':
                request.Outcome = "empty";
                return end is PostgreSqlEnd.Command ? [Complete()] : [];
            case 's':
                request.Outcome = "suspended";
                return end is PostgreSqlEnd.Command ? [Complete()] : [];
            case 'E':
                request.Outcome = $"error {CodeIn(body)}";
                // The end of the batch has not been sent yet, and what is sent until then is skipped.
                isSkipping = !waiting.Exists(one => one.End is PostgreSqlEnd.Ready);
                return isSkipping ? [Complete()] : [];
            case 'G':
                (Copied, EndOfCopy, request.Outcome) = (request.Text, end, "copy in");
                return [Complete()];
            // The server streams changes. It answers nothing until the client ends that.
            case 'W':
                (IsStreaming, request.Outcome) = (true, "copy both");
                return [Complete()];
            case 'Z':
                return CompleteAll(isIdle: body is [Idle, ..]);
            default:
                return [];
        }
    }

    private WireRequest Complete()
    {
        var request = waiting[0].Request;
        waiting.RemoveAt(0);
        Follow(request);
        request.IsAnswered = true;
        return request;
    }

    // After an error the server skips the rest of the batch.
    private List<WireRequest> CompleteAll(bool isIdle)
    {
        var last = Math.Max(0, waiting.FindIndex(one => one.End is PostgreSqlEnd.Ready));
        var completed = new List<WireRequest>();
        for (var count = 0; count <= last; count++)
        {
            waiting[0].Request.Outcome ??= count > 0 || isSkipping ? Skipped : "ready";
            completed.Add(Complete());
        }

        (isSkipping, IsStreaming) = (false, false);
        if (isIdle && isOpen)
            transaction++;
        // A text or a COMMIT AND CHAIN can begin the next one.
        isOpen = !isIdle;
        return completed;
    }

    private void Follow(WireRequest request)
    {
        request.Transaction = transaction;
        isOpen = true;
        if (request.HasEndedTransaction)
            (transaction, isOpen) = (transaction + 1, false);
    }

    private static string TextOf(ReadOnlySpan<byte> body) => Encoding.UTF8.GetString(body[..^1]);

    /// <summary>The field of an error that has its code.</summary>
    private static string CodeIn(ReadOnlySpan<byte> body)
    {
        while (body is [not 0 and var field, ..])
        {
            var end = body.IndexOf((byte)0);
            if (field == 'C')
                return Encoding.UTF8.GetString(body[1..end]);
            body = body[(end + 1)..];
        }

        return "unknown";
    }
}
