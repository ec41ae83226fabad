using Kit.Prove.Drains;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results;

namespace Kit.Tests.Proofs;

/// <summary>The time of a drain is that of the commits and receipts of its effects.</summary>
[Parallelizable]
public sealed class MomentsOfEffects
{
    private static readonly Guid One = Guid.CreateVersion7();
    private static readonly Guid Two = Guid.CreateVersion7();
    private static readonly DateTimeOffset Start = new(2026, 11, 1, 12, 0, 0, TimeSpan.Zero);

    private const string Rows = """{ "name": "row", "database": "orders", "sql": "SELECT id FROM placed_order" }""";
    private const string Shipments = """{ "name": "shipment", "queue": "shipments" }""";

    [Test]
    public void A_row_has_the_moment_of_its_commit() => Assert.That(
        Of(Rows, [Commit(2, $"public.placed_order: INSERT: id[uuid]:'{Two}'"), Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'")]),
        Is.EqualTo([At(1), At(2)]));

    [Test]
    public void Other_tables_and_databases_and_deleted_rows_do_not_count() => Assert.That(
        Of(
            Rows,
            [
                Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'", $"public.\"placed_order\": INSERT: id[uuid]:'{Two}'"),
                Commit(5, $"public.handled_message: INSERT: id[uuid]:'{One}'"), Commit(6, $"public.placed_order: DELETE: id[uuid]:'{One}'"),
                Commit(7, $"public.placed_order: INSERT: id[uuid]:'{One}'") with { Database = "other" },
            ]),
        Is.EqualTo([At(1), At(1)]));

    [Test]
    public void A_message_that_waits_in_the_table_of_its_effect_is_done_with_its_last_write() => Assert.That(
        Of(
            """{ "name": "done", "database": "orders", "sql": "SELECT id FROM job WHERE is_done" }""",
            [
                Commit(0, $"public.job: INSERT: id[uuid]:'{One}' is_done[boolean]:false", $"public.job: INSERT: id[uuid]:'{Two}' is_done[boolean]:false"),
                Commit(3, $"public.job: UPDATE: id[uuid]:'{One}' is_done[boolean]:true"),
                Commit(4, $"public.job: UPDATE: id[uuid]:'{Two}' is_done[boolean]:true"),
            ]),
        Is.EqualTo([At(3), At(4)]));

    [Test]
    public void A_message_is_done_with_its_last_effect() => Assert.That(
        Of(
            $"{Rows}, {Shipments}", [Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'"), Commit(4, $"public.placed_order: INSERT: id[uuid]:'{Two}'")],
            new SeenEffect($"{{ \"order\": \"{One}\" }}", At(2)), new SeenEffect($"{Two}", At(3))),
        Is.EqualTo([At(2), At(4)]));

    [Test]
    public void A_row_that_no_commit_shows_is_an_error() => Assert.That(
        () => Of(Rows, [Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'")]),
        Throws.TypeOf<KitException>().With.Message.Contains(
            $"effect 'row' of message {Two} is there, and since its start the service has committed no row with its id in a table"));

    [Test]
    public void A_row_that_the_kit_put_in_before_the_service_started_is_no_effect() => Assert.That(
        () => Of(Rows, [Commit(1, $"public.placed_order: INSERT: id[uuid]:'{One}'"), Commit(0, $"public.placed_order: INSERT: id[uuid]:'{Two}'")]),
        Throws.TypeOf<KitException>().With.Message.Contains($"effect 'row' of message {Two} is there, and since its start"));

    [Test]
    public void The_clock_starts_at_the_first_after_the_warm_up() =>
        Assert.That(EffectMoments.OffsetsOf([At(1), At(2), At(3), At(3), At(5), At(9)], warmUp: 2), Is.EqualTo([2_000d, 6_000d]));

    [Test]
    public void The_most_at_one_moment_are_those_after_the_warm_up_and_of_the_commit_that_ends_it() => Assert.That(
        EffectMoments.MostAtOneMoment([.. new[] { 1, 1, 1, 1, 2, 2, 2, 3, 5, 5 }.Select(second => new MessageMoments([At(second)]))], warmUp: 5),
        Is.EqualTo(3));

    /// <summary>A service that commits batches of rows, and then sends for each of them.</summary>
    [Test]
    public void A_commit_of_many_rows_is_at_one_moment_though_each_of_them_is_sent_later() => Assert.That(
        EffectMoments.MostAtOneMoment(
            [.. Enumerable.Range(0, 20).Select(at => new MessageMoments([At(at / 5), At(at / 5).AddMilliseconds(1 + (at % 5))]))], warmUp: 4),
        Is.EqualTo(5));

    [TestCase(1, null)]
    [TestCase(100, null)]
    [TestCase(
        500,
        "299 messages had their effects in the first 1 % of the time, more than 5 % of 2,000, as if their work was done before: " +
        "give --messages at least 5980, or let the service work in smaller batches")]
    public void A_burst_whose_work_was_done_before_the_clock_gives_no_rate(int batch, string? because)
    {
        // The work of a batch takes a millisecond for each message, and what it sends is received every 20 µs.
        List<DateTimeOffset> moments =
            [.. Enumerable.Range(0, 2_200).Select(at => Start.AddMilliseconds(((at / batch) + 1) * batch).AddMicroseconds(20 * (at % batch)))];

        Assert.That(EffectMoments.WhyInABurst(EffectMoments.OffsetsOf(moments, warmUp: 200), messages: 2_000), Is.EqualTo(because));
    }

    [Test]
    public void Messages_that_come_long_after_the_others_make_no_burst_of_them() => Assert.That(
        EffectMoments.WhyInABurst([.. Enumerable.Range(1, 1_990).Select(at => at * 2d), .. Enumerable.Range(0, 10).Select(at => 60_000d + at)], 2_000),
        Is.Null);

    [TestCase(1, 100, null)]
    [TestCase(20, 2_000, null)]
    [TestCase(
        21, 2_000,
        "21 messages had an effect at one moment, more than 1 % of 2,000: give --messages at least 2100, " +
        "or let the service commit fewer at a time")]
    [TestCase(
        2_200, 2_000,
        "2,200 messages had an effect at one moment, more than 1 % of 2,000: give --messages at least 220000, " +
        "or let the service commit fewer at a time")]
    public void Too_many_at_one_moment_give_no_rate(int most, int messages, string? because) =>
        Assert.That(EffectMoments.WhyTooCoarse(most, messages), Is.EqualTo(because));

    [Test]
    public void Nothing_can_wait_for_a_service_that_is_asked_over_HTTP() => Assert.That(
        () => DrainPlan.Of(FileWith(Rows, """{ "http": "http://127.0.0.1:{{port}}/", "body": "{{id}}" }"""), "results", 100, 10, 3),
        Throws.TypeOf<KitException>().With.Message.Contains("'drain' puts the messages in while it is stopped").And.Property("IsUsage").True);

    [Test]
    public void The_log_of_a_database_is_read_only_for_rows()
    {
        Assert.That(DrainPlan.Of(FileWith(Rows), "results", 100, 10, 3).File.ReadsCommits, Is.True);
        Assert.That(DrainPlan.Of(FileWith(Shipments), "results", 100, 10, 3).File.ReadsCommits, Is.False);
    }

    private static IReadOnlyList<DateTimeOffset> Of(string effects, IReadOnlyList<CommittedTransaction> commits, params IReadOnlyList<SeenEffect> shipments) =>
    [
        .. EffectMoments.Of(FileWith(effects), [One, Two], At(1), commits, new Dictionary<string, IReadOnlyList<SeenEffect>> { ["shipment"] = shipments })
            .Select(message => message.Done),
    ];

    private static DateTimeOffset At(int second) => Start.AddSeconds(second);

    private static CommittedTransaction Commit(int second, params IReadOnlyList<string> changes) => new("orders", changes, At(second));

    private static ProofFile FileWith(string effects, string send = """{ "queue": "orders", "body": "{{id}}" }""") => ProofFileReader.Parse(
        "orders.proof.json",
        $$$"""
        {
          "name": "orders",
          "databases": ["orders", "other"],
          "queues": ["orders"],
          "start": { "command": ["orders"], "environment": { "BROKER": "{{rabbitmq}}" } },
          "send": {{{send}}},
          "effects": [ {{{effects}}} ],
          "promise": "at-least-once"
        }
        """);
}
