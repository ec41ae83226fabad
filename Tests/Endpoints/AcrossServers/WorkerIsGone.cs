using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.AcrossServers;

/// <summary>full-dtc on two servers, where a worker has ended, or is so slow that others take it for ended: its row in the list, and its branches.</summary>
[Parallelizable]
public sealed class WorkerIsGone : OnTwoServers
{
    /// <summary>Between prepare and decision, the worker waits for an answer, and the recovery of another process finds its branch.</summary>
    [Test]
    public async Task A_slow_worker_is_fenced_and_its_message_is_handled_again_without_an_attempt()
    {
        var message = (await Bench.EnqueueAsync(1)).Single();
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(Bench.DataConnection).Port);
        var slow = new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Port = proxy.Port };
        var attempts = new List<int>();
        await Bench.StartAsync(
            async (context, cancellationToken) =>
            {
                attempts.Add(attempts.Count);
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
                if (attempts.Count == 1)
                    proxy.Stall(Traffic.ToClient);
            },
            data: slow.ConnectionString);
        await Eventually.HoldsAsync(async () => await Bench.Data.CountPreparedAsync() == 1, "prepared, and not answered");

        await Bench.StartAsync();
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero, "the second process has rolled the branch back");
        proxy.Resume(Traffic.ToClient);
        await Bench.DrainedAsync();

        await Bench.HasExactlyOneEffectOfEachAsync([message]);
        // The second process can have handled the message before the slow worker says why it has let go of it.
        await Eventually.HoldsAsync(
            () => Bench.Log.Any(line => line.Contains("fenced", StringComparison.Ordinal)), "the slow worker is fenced");
    }

    /// <summary>The driver keeps the answers of a prepared batch, so the first decision tells less than the second.</summary>
    [TestCase(1)]
    [TestCase(2)]
    public async Task A_worker_that_was_fenced_at_its_second_message_counts_no_attempt(int batch)
    {
        var attempts = new List<Guid>();
        await Bench.StartAsync(
            async (context, cancellationToken) =>
            {
                attempts.Add(context.MessageId);
                if (attempts.Count == 1 + batch)
                    await TestDatabases.ExecuteAsync(Bench.QueueConnection, "UPDATE kit_worker SET is_fenced = true");
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            },
            configure: endpoint => endpoint.LimitConcurrency(1).ReceiveInBatches(batch));
        var first = await Bench.EnqueueAsync(batch);
        await Bench.DrainedAsync();
        var second = await Bench.EnqueueAsync(batch);
        await Bench.DrainedAsync();

        await Bench.HasExactlyOneEffectOfEachAsync([.. first, .. second]);
        Assert.That(Bench.Log, Has.Some.Contains("fenced this worker"));
        Assert.That(attempts, Has.Count.EqualTo(3 * batch));
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_branch_that_a_killed_process_has_left_ends_as_its_list_says(bool isListed)
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        var queue = await ReadIdentityAsync();
        var branch = new WorkerBranch(queue, worker, 7);
        await InsertWorkerAsync(worker, isListed ? "{3,7}" : "{3}");
        await PrepareAsync(branch.Id);

        await Bench.StartAsync();

        Assert.That(await Bench.Data.CountRowsAsync(), Is.EqualTo(isListed ? 1 : 0));
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
        Assert.That(await TestDatabases.ScalarAsync(Bench.QueueConnection, $"SELECT count(*)::int FROM kit_worker WHERE id = '{worker}'"), Is.Zero);
    }

    [Test]
    public async Task A_branch_without_a_row_is_rolled_back()
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), Guid.NewGuid(), 1).Id);

        await Bench.StartAsync();

        Assert.That(await Bench.Data.CountRowsAsync(), Is.Zero);
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task An_outage_of_the_server_of_the_rows_leaves_no_more_rows_of_workers_than_there_are_workers()
    {
        await Bench.StartAsync();
        await DataServer.StopImmediatelyAsync(CancellationToken.None);
        try
        {
            var messages = await Bench.EnqueueAsync(1);
            await Eventually.HoldsAsync(() => Bench.Log.Count(line => line.Contains("Next try", StringComparison.Ordinal)) >= 10, "sessions are opened again");

            // A session counts as alive until its process of the server has ended. Rows that nobody deleted would become more and more.
            await Eventually.HoldsAsync(
                async () => await Bench.CountWorkersAsync() <= 4, "two that live, and those of the last two sessions");
            await DataServer.RestartAsync(CancellationToken.None);
            await Bench.DrainedAsync();
            await Bench.HasExactlyOneEffectOfEachAsync(messages);
        }
        finally
        {
            await DataServer.RestartAsync(CancellationToken.None);
        }
    }

    /// <summary>Another endpoint of the queue's database can have its rows on a third server, whose branches this one does not see.</summary>
    [Test]
    public async Task The_row_of_a_worker_whose_branches_are_on_another_server_stays()
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        await TestDatabases.ExecuteAsync(
            Bench.QueueConnection, $"INSERT INTO kit_worker (id, branches_on, database, open) VALUES ('{worker}', 1, 1, '{{1}}')");

        await Bench.StartAsync();

        Assert.That(await TestDatabases.ScalarAsync(Bench.QueueConnection, $"SELECT count(*)::int FROM kit_worker WHERE id = '{worker}'"), Is.EqualTo(1));
    }

    [Test]
    public async Task A_branch_of_another_queue_is_left_alone()
    {
        var branch = new WorkerBranch(Guid.NewGuid(), Guid.NewGuid(), 1);
        await PrepareAsync(branch.Id);

        await Bench.StartAsync();

        Assert.That(await Bench.Data.CountPreparedAsync(), Is.EqualTo(1));
        var listed = (await new PreparedTransactions(Bench.DataConnection).ReadAsync(CancellationToken.None)).Single();
        Assert.That(listed.Owner, Is.EqualTo(BranchOwner.AnotherServer));
    }
}
