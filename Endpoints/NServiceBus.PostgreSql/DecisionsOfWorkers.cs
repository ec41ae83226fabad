using System.Collections.Concurrent;
using System.Data;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>
/// Queue and rows on two servers: workers' rows are the record of the decisions. The transport receives each message on a connection of its pool, so a message
/// borrows a row while it is handled; there are as many rows as messages at a time. One session, which does nothing else, shows that their workers live. If it
/// is lost, recovery fences the rows, whose messages are handled again without an attempt, on rows of the next session.
/// </summary>
/// <param name="rows">The rows.</param>
/// <param name="queues">Opens that session.</param>
internal sealed class DecisionsOfWorkers(WorkerRows rows, QueueSource queues) : IDecisions, IAsyncDisposable
{
    private readonly ConcurrentStack<Worker> idle = new();
    // Their rows stay until their session shows that they have ended.
    private readonly ConcurrentQueue<Worker> over = new();
    private readonly SemaphoreSlim opening = new(1);
    private NpgsqlConnection? session;

    public IReadOnlyDictionary<string, NpgsqlDataSource> Data => rows.Data;

    public async ValueTask<IDecision> OfAsync(NpgsqlConnection receive, CancellationToken cancellationToken)
    {
        var worker = await TakeAsync(cancellationToken);
        try
        {
            return new Borrowed(this, worker, worker.Row.Of(new TransportReceive(receive, worker.Row.Deciding)));
        }
        catch
        {
            GiveBack(worker);
            throw;
        }
    }

    public string? MismatchOf(Exception reason) => rows.Refusal?.Message;

    public async ValueTask DisposeAsync()
    {
        while (idle.TryPop(out var worker))
            await worker.Row.DisposeAsync();
        if (session is not null)
            await session.DisposeAsync();
        opening.Dispose();
    }

    private async ValueTask<Worker> TakeAsync(CancellationToken cancellationToken)
    {
        while (idle.TryPop(out var worker))
        {
            if (!worker.Row.IsOver && worker.Session == session)
                return worker;

            await worker.Row.DisposeAsync();
            over.Enqueue(worker);
        }

        await opening.WaitAsync(cancellationToken);
        try
        {
            return await OpenAsync(cancellationToken);
        }
        catch (NpgsqlException failure)
        {
            throw new ServerRefusedException(failure);
        }
        finally
        {
            opening.Release();
        }
    }

    private async Task<Worker> OpenAsync(CancellationToken cancellationToken)
    {
        var ended = new List<Worker>();
        while (over.TryDequeue(out var worker))
            ended.Add(worker);
        if (session is { } known)
        {
            // A row that has never decided may be on another server than the receives: the queue's address leads elsewhere now, and this session does not.
            var isLeft = ended.Any(worker => worker.Session == known && !worker.Row.HasDecided);
            try
            {
                if (known.State is ConnectionState.Open && !isLeft)
                {
                    await WorkerRows.ReleaseAsync(known, ended.Where(worker => worker.Session == known).Select(worker => worker.Row.Id), cancellationToken);
                    return new Worker(await WorkerRow.OpenApartAsync(rows, known, cancellationToken), known);
                }
            }
            catch (NpgsqlException) when (known.State is not ConnectionState.Open)
            {
                // It was lost, and nobody had noticed.
            }

            session = null;
            await known.DisposeAsync();
        }

        var opened = await queues.OpenAsync(cancellationToken);
        try
        {
            var row = await WorkerRow.OpenApartAsync(rows, opened, cancellationToken);
            session = opened;
            return new Worker(row, opened);
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    private void GiveBack(Worker worker) => idle.Push(worker);

    private sealed record Worker(WorkerRow Row, NpgsqlConnection Session);

    private sealed class Borrowed(DecisionsOfWorkers all, Worker worker, IDecision decision) : IDecision
    {
        public BranchId BranchOf(string participant) => decision.BranchOf(participant);

        public IEnumerable<NpgsqlBatchCommand> BeforePrepare => decision.BeforePrepare;

        public Task CommitAsync(IReadOnlyCollection<BranchId> branches) => decision.CommitAsync(branches);

        public void Close()
        {
            decision.Close();
            all.GiveBack(worker);
        }
    }
}
