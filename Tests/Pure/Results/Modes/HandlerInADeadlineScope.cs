using System.Transactions;
using Kit.Modes;

namespace Kit.Tests.Results.Modes;

/// <summary>A handler in a scope, and what becomes of a resource that it enlisted there.</summary>
public sealed class HandlerInADeadlineScope
{
    private static readonly TimeSpan Long = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(50);

    private readonly List<TransactionStatus> ends = [];

    [SetUp]
    public void Forget() => ends.Clear();

    [Test]
    public async Task Returns_in_time_and_its_work_commits()
    {
        await RunAsync(Long, (_, _) => Task.CompletedTask);

        Assert.That(ends, Is.EqualTo([TransactionStatus.Committed]));
    }

    [Test]
    public async Task Has_a_transaction_of_the_modes_isolation_and_of_its_own()
    {
        using var outer = new TransactionScope(TransactionScopeAsyncFlowOption.Enabled);
        var around = Transaction.Current;

        await RunAsync(Long, (transaction, _) =>
        {
            Assert.That(transaction, Is.Not.EqualTo(around));
            Assert.That(transaction.IsolationLevel, Is.EqualTo(IsolationLevel.ReadCommitted));
            return Task.CompletedTask;
        });

        Assert.That(ends, Is.EqualTo([TransactionStatus.Committed]), "before the transaction around it ends");
    }

    [Test]
    public void Fails_in_time_and_its_work_is_rolled_back()
    {
        Assert.That(
            () => RunAsync(Long, (_, _) => throw new InvalidOperationException("it broke")),
            Throws.InvalidOperationException.With.Message.EqualTo("it broke"));
        Assert.That(ends, Is.EqualTo([TransactionStatus.Aborted]));
    }

    [Test]
    public void Waits_on_its_token_which_is_cancelled_when_the_time_is_over()
    {
        Assert.That(
            () => RunAsync(Short, (_, inTime) => Task.Delay(Timeout.Infinite, inTime)),
            Throws.TypeOf<TimeoutException>().With.InnerException.InstanceOf<OperationCanceledException>());
        Assert.That(ends, Is.EqualTo([TransactionStatus.Aborted]));
    }

    [Test]
    public void Does_not_heed_its_token_and_is_rolled_back_when_it_returns()
    {
        Assert.That(
            () => RunAsync(Short, async (transaction, inTime) =>
            {
                await WhenCancelled(inTime);
                Assert.That(transaction.TransactionInformation.Status, Is.EqualTo(TransactionStatus.Active), "all its work is in one transaction");
            }),
            Throws.TypeOf<TimeoutException>().With.InnerException.Null);
        Assert.That(ends, Is.EqualTo([TransactionStatus.Aborted]));
    }

    [Test]
    public void Is_stopped_by_its_caller_which_is_no_time_out()
    {
        using var caller = new CancellationTokenSource();

        Assert.That(
            () => RunAsync(
                Long,
                async (_, inTime) =>
                {
                    await caller.CancelAsync();
                    inTime.ThrowIfCancellationRequested();
                },
                caller.Token),
            Throws.InstanceOf<OperationCanceledException>());
        Assert.That(ends, Is.EqualTo([TransactionStatus.Aborted]));
    }

    [Test]
    public async Task Finishes_although_its_caller_stops_and_its_work_commits()
    {
        using var caller = new CancellationTokenSource();

        await RunAsync(Long, (_, _) => caller.CancelAsync(), caller.Token);

        Assert.That(ends, Is.EqualTo([TransactionStatus.Committed]));
    }

    [Test]
    public void Takes_longer_than_its_time_and_is_rolled_back_although_its_caller_stopped()
    {
        using var caller = new CancellationTokenSource();

        Assert.That(
            () => RunAsync(
                Short,
                async (_, _) =>
                {
                    await caller.CancelAsync();
                    await Task.Delay(2 * Short, CancellationToken.None);
                },
                caller.Token),
            Throws.TypeOf<TimeoutException>());
        Assert.That(ends, Is.EqualTo([TransactionStatus.Aborted]));
    }

    private Task RunAsync(TimeSpan timeout, Func<Transaction, CancellationToken, Task> handle, CancellationToken cancellationToken = default) =>
        DeadlineScope.RunAsync(
            new TransactionSettings(TransactionMode.DtcOff, timeout),
            inTime =>
            {
                var transaction = Transaction.Current!;
                transaction.EnlistVolatile(new Resource(ends), EnlistmentOptions.None);
                return handle(transaction, inTime);
            },
            cancellationToken);

    private static Task WhenCancelled(CancellationToken token)
    {
        var cancelled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        token.Register(cancelled.SetResult);
        return cancelled.Task;
    }

    private sealed class Resource(List<TransactionStatus> ends) : ISinglePhaseNotification
    {
        public void SinglePhaseCommit(SinglePhaseEnlistment singlePhaseEnlistment)
        {
            ends.Add(TransactionStatus.Committed);
            singlePhaseEnlistment.Committed();
        }

        public void Rollback(Enlistment enlistment)
        {
            ends.Add(TransactionStatus.Aborted);
            enlistment.Done();
        }

        public void Prepare(PreparingEnlistment preparingEnlistment) => preparingEnlistment.ForceRollback();

        public void Commit(Enlistment enlistment) => throw new InvalidOperationException("Nothing was prepared.");

        public void InDoubt(Enlistment enlistment) => throw new InvalidOperationException("Nothing was prepared.");
    }
}
