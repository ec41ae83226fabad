using Kit.Handlers;
using Kit.Runner.Stage;

namespace Kit.Tests.Rounds;

/// <summary>The handler that keeps one message of a drain until all others are handled.</summary>
[Parallelizable]
public sealed class OneHandlerIsSlow
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(20);

    [Test]
    public async Task It_waits_until_all_others_are_handled()
    {
        var slow = new SlowHandler((_, _, _) => Task.CompletedTask, messages: 3);
        var first = Handle(slow);
        await Handle(slow);
        Assert.That(first.IsCompleted, Is.False);

        await Handle(slow);
        await first.WaitAsync(Soon);

        Assert.That(slow.HasWaited);
    }

    [Test]
    public async Task A_message_that_is_handled_twice_is_one_of_them()
    {
        var slow = new SlowHandler((_, _, _) => Task.CompletedTask, messages: 3);
        var first = Handle(slow);
        var again = new BuildWidget(Guid.CreateVersion7());
        await slow.HandleAsync(again, null!, CancellationToken.None);
        await slow.HandleAsync(again, null!, CancellationToken.None);

        Assert.That(first.IsCompleted, Is.False);

        await Handle(slow);
        await first.WaitAsync(Soon);
    }

    [Test]
    public void An_attempt_that_fails_does_not_wait_and_the_next_one_does()
    {
        var fails = true;
        var slow = new SlowHandler((_, _, _) => fails ? throw new InvalidOperationException() : Task.CompletedTask, messages: 2);
        Assert.That(() => Handle(slow), Throws.InvalidOperationException);

        fails = false;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Handle(slow).IsCompleted, Is.False);
            Assert.That(slow.HasWaited, Is.False);
        }
    }

    [Test]
    public async Task One_message_has_nobody_to_wait_for()
    {
        var slow = new SlowHandler((_, _, _) => Task.CompletedTask, messages: 1);

        await Handle(slow).WaitAsync(Soon);

        Assert.That(slow.HasWaited);
    }

    private static Task Handle(SlowHandler slow) => slow.HandleAsync(new BuildWidget(Guid.CreateVersion7()), null!, CancellationToken.None);
}
