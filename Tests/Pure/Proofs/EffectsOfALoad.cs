using Kit.Prove.Files;
using Kit.Prove.Loads;
using Kit.Prove.Service;

namespace Kit.Tests.Proofs;

/// <summary>While a service runs, a message is done with its last effect, and what the kit itself writes is none.</summary>
[Parallelizable]
public sealed class EffectsOfALoad
{
    private static readonly Guid One = Guid.CreateVersion7();
    private static readonly Guid Two = Guid.CreateVersion7();
    private static readonly DateTimeOffset Start = new(2026, 11, 1, 12, 0, 0, TimeSpan.Zero);

    private const string Rows = """{ "name": "row", "database": "orders", "sql": "SELECT id FROM placed_order" }""";
    private const string Shipments = """{ "name": "shipment", "queue": "shipments" }""";
    private const string DoneJobs = """{ "name": "done", "database": "orders", "sql": "SELECT id FROM job WHERE is_done" }""";

    [Test]
    public async Task A_message_is_done_with_its_last_effect()
    {
        var effects = Of($"{Rows}, {Shipments}");
        effects.Expect([One]);

        effects.Take(Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'"));
        Assert.That(effects.Done, Is.Zero);
        effects.Take(effect => effect is QueueEffect, new SeenEffect($"{One}", At(3)));

        Assert.That(effects.Done, Is.EqualTo(1));
        Assert.That(await MomentsAsync(effects), Is.EqualTo(new Dictionary<Guid, DateTimeOffset> { [One] = At(3) }));
    }

    [Test]
    public async Task The_lead_of_the_database_s_clock_is_taken_off_its_commits_alone()
    {
        var effects = Of($"{Rows}, {Shipments}");
        effects.Expect([One, Two]);
        effects.Correct(TimeSpan.FromSeconds(-10));

        foreach (var (message, committed, received) in new[] { (One, -5, 3), (Two, -5, 7) })
        {
            effects.Take(Commit(committed, $"public.placed_order: INSERT: id[uuid]:'{message}'"));
            effects.Take(effect => effect is QueueEffect, new SeenEffect($"{message}", At(received)));
        }

        Assert.That(await MomentsAsync(effects), Is.EqualTo(new Dictionary<Guid, DateTimeOffset> { [One] = At(5), [Two] = At(7) }));
    }

    [Test]
    public void An_id_that_was_not_sent_is_no_message()
    {
        var effects = Of(Rows);
        effects.Expect([One]);

        effects.Take(Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}' customer[uuid]:'{Two}'", $"public.other: INSERT: id[uuid]:'{Two}'"));

        Assert.That((effects.Done, effects.Expected), Is.EqualTo((1, 1)));
    }

    /// <summary>The first transaction that writes the id into the table of the queue is the one that put it in.</summary>
    [Test]
    public async Task What_a_send_writes_is_no_effect()
    {
        var effects = Of(DoneJobs);
        effects.Expect([One]);
        effects.Take(Commit(1, $"public.job: INSERT: id[uuid]:'{One}' is_done[boolean]:false"));
        effects.LearnOfSend(One);
        Assert.That(effects.Done, Is.Zero);
        effects.Take(Commit(2, $"public.job: UPDATE: id[uuid]:'{One}' is_done[boolean]:true"));
        Assert.That(effects.LearnNeeded(One), Is.Null);
        Assert.That(effects.Done, Is.EqualTo(1));

        effects.Expect([Two]);
        effects.Take(Commit(3, $"public.job: INSERT: id[uuid]:'{Two}' is_done[boolean]:false", $"public.job: UPDATE: id[uuid]:'{Two}' n[integer]:1"));
        Assert.That(effects.Done, Is.EqualTo(1));
        effects.Take(Commit(4, $"public.job: UPDATE: id[uuid]:'{Two}' is_done[boolean]:true"));

        Assert.That(await MomentsAsync(effects), Is.EqualTo(new Dictionary<Guid, DateTimeOffset> { [One] = At(2), [Two] = At(4) }));
    }

    [Test]
    public void A_row_that_is_written_before_it_is_an_effect_is_awaited_as_often()
    {
        var effects = Of(Rows);
        effects.Expect([One, Two]);
        effects.Take(Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'"));
        effects.Take(Commit(2, $"public.placed_order: UPDATE: id[uuid]:'{One}'"));
        Assert.That(effects.LearnNeeded(One), Is.Null);

        effects.Take(Commit(3, $"public.placed_order: INSERT: id[uuid]:'{Two}'"));
        Assert.That(effects.Done, Is.EqualTo(1));
        effects.Take(Commit(4, $"public.placed_order: UPDATE: id[uuid]:'{Two}'"));

        Assert.That(effects.Done, Is.EqualTo(2));
    }

    [Test]
    public void An_effect_of_which_nothing_tells_is_named()
    {
        var effects = Of($"{Rows}, {Shipments}");
        effects.Expect([One]);
        effects.Take(Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'"));

        Assert.That(effects.LearnNeeded(One)?.Name, Is.EqualTo("shipment"));
    }

    [Test]
    public async Task A_user_is_told_of_the_last_effect()
    {
        var effects = Of(Rows);
        effects.Expect([One]);
        var waiting = effects.WaitAsync(One, TimeSpan.FromMinutes(1), CancellationToken.None);

        effects.Take(Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'"));

        await waiting;
        Assert.That(effects.Told.Keys, Is.EqualTo([One]));
    }

    [TestCase("COMMIT (at 2026-11-29 20:15:00.123456+00)", 123_456)]
    [TestCase("COMMIT (at 2026-11-29 20:15:00+00)", 0)]
    public void The_moment_of_a_commit_is_in_its_line(string line, int microseconds) => Assert.That(
        CommitStream.MomentIn(line),
        Is.EqualTo(new DateTimeOffset(2026, 11, 29, 20, 15, 0, TimeSpan.Zero).AddMicroseconds(microseconds)));

    private static ServiceEffects Of(string effects) => new(ProofFileReader.Parse(
        "orders.proof.json",
        $$$"""
        {
          "name": "orders",
          "databases": ["orders"],
          "queues": ["orders"],
          "start": { "command": ["orders"], "environment": { "BROKER": "{{rabbitmq}}" } },
          "send": { "queue": "orders", "body": "{{id}}" },
          "effects": [ {{{effects}}} ],
          "promise": "at-least-once"
        }
        """));

    private static Task<IReadOnlyDictionary<Guid, DateTimeOffset>> MomentsAsync(ServiceEffects effects) =>
        effects.EndAsync([], TimeSpan.Zero, CancellationToken.None);

    private static DateTimeOffset At(int second) => Start.AddSeconds(second);

    private static CommittedTransaction Commit(int second, params IReadOnlyList<string> changes) => new("orders", changes, At(second));
}
