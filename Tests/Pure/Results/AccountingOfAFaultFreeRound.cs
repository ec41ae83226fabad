using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;

namespace Kit.Tests.Results;

/// <summary>A clean round, and mutations that each move one message from its class to another.</summary>
public sealed class AccountingOfAFaultFreeRound
{
    private const int Seeded = 1_000;

    private static readonly Guid Victim = Id(3);
    private static readonly Guid Stranger = Id(999);

    private static RoundEvidence Clean => new()
    {
        Messages = Ids(1, 10),
        WarmUp = Ids(101, 5),
        Found = new History
        {
            Sendings = [.. Ids(1, 10).Concat(Ids(101, 5)).Select(id => new Sending(id, SendResult.Acked))],
            Attempts = [],
            Rows = [.. Ids(1, 10).Concat(Ids(101, 5)).Select(RowOf)],
            Sink = [],
            Errors = [],
            Queue = [],
            Prepared = [],
        },
        Handled = 15,
        Deliveries = 0,
        Counted = null,
        SeedRows = Seeded,
        TableRows = Seeded + 15,
    };

    private static IEnumerable<TestCaseData> Mutations()
    {
        yield return Mutation("A dropped row", evidence => WithRows(evidence, Victim, 0), DeliveryClass.Lost);
        yield return Mutation("A doubled row", evidence => WithRows(evidence, Victim, 2), DeliveryClass.Duplicated);
        yield return Mutation("A row and an error", evidence => WithErrors(evidence, Victim), DeliveryClass.Zombie);
        yield return Mutation("An error and no row", evidence => GivenUp(evidence, Victim), DeliveryClass.CleanError);
        yield return Mutation("A row, and still queued", evidence => Queued(evidence, Victim), DeliveryClass.Stuck);
        yield return Mutation("No row, still queued", evidence => Queued(WithRows(evidence, Victim, 0), Victim), DeliveryClass.Stuck);
        yield return Mutation("Two rows, and still queued", evidence => Queued(WithRows(evidence, Victim, 2), Victim), DeliveryClass.Duplicated);
        yield return Mutation("Two rows and an error", evidence => WithErrors(WithRows(evidence, Victim, 2), Victim), DeliveryClass.Duplicated);
        yield return Mutation("In both queues", evidence => WithErrors(Queued(evidence, Victim), Victim), DeliveryClass.Stuck);
        yield return Mutation("A row, and in the error queue twice", evidence => WithErrors(evidence, Victim, Victim), DeliveryClass.Zombie);
        yield return Mutation(
            "In the error queue twice", evidence => WithErrors(WithRows(evidence, Victim, 0), Victim, Victim), DeliveryClass.DuplicatedOutgoing);
    }

    [Test]
    public void Clean_round_is_valid_with_every_message_handled_once()
    {
        var account = RoundAccount.Of(Clean);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Outcome.IsValid(), Is.True);
            Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(10));
            Assert.That(account.Counts.Values.Sum(), Is.EqualTo(10));
            Assert.That(account.Counts.Keys, Is.EquivalentTo(Enum.GetValues<DeliveryClass>()));
        }
    }

    [TestCaseSource(nameof(Mutations))]
    public void Mutation_moves_exactly_one_message(Func<RoundEvidence, RoundEvidence> mutate, DeliveryClass to)
    {
        var account = RoundAccount.Of(mutate(Clean));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(9));
            Assert.That(account.Counts[to], Is.EqualTo(1));
            Assert.That(account.Counts.Values.Sum(), Is.EqualTo(10), "the classes partition the messages");
            Assert.That(account.Outcome.Verdict, Is.EqualTo(Verdict.Invalid));
            Assert.That(account.Problems[0], Does.Contain(Victim.ToString()));
            Assert.That(account.IsDeadLetteredAlone, Is.EqualTo(to is DeliveryClass.CleanError));
        }
    }

    [Test]
    public void A_dead_letter_and_anything_else_is_not_a_dead_letter_alone()
    {
        var dead = GivenUp(Clean, Victim);
        IReadOnlyList<RoundEvidence> worse =
        [
            Clean, WithRows(dead, Id(4), 0), WithRows(dead, Id(4), 2), Queued(dead, Id(4)), dead with { TableRows = dead.TableRows + 1 },
            GivenUp(Clean, Id(101)), dead with { Handled = dead.Handled + 1 },
        ];

        Assert.That(worse.Select(evidence => RoundAccount.Of(evidence).IsDeadLetteredAlone), Is.All.False);
    }

    [Test]
    public void Row_of_a_stranger_is_unexpected_and_takes_no_message_away() =>
        AssertUnexpected(WithRows(Clean, Stranger, 1));

    [Test]
    public void Error_of_a_stranger_is_unexpected() => AssertUnexpected(WithErrors(Clean, Stranger));

    [Test]
    public void Queued_stranger_is_unexpected() => AssertUnexpected(Queued(Clean, Stranger));

    [Test]
    public void Stranger_found_everywhere_is_one_stranger() =>
        AssertUnexpected(Queued(WithErrors(WithRows(Clean, Stranger, 2), Stranger), Stranger));

    [Test]
    public void Dropped_row_of_the_warm_up_makes_the_round_invalid_and_moves_no_message()
    {
        var account = RoundAccount.Of(WithRows(Clean, Id(102), 0));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(10));
            Assert.That(account.Problems[0], Does.StartWith("messages of the warm-up lost: 1"));
        }
    }

    [Test]
    public void Prepared_transaction_left_makes_the_round_invalid() =>
        Assert.That(
            RoundAccount.Of(Clean with { Found = Clean.Found with { Prepared = [new("one's own", 7), new("another", 8)] } }).Problems,
            Is.EqualTo(["prepared transactions left: 2 (one's own)"]));

    [TestCase(-1)]
    [TestCase(1)]
    public void Row_count_that_is_off_makes_the_round_invalid(int rows) =>
        Assert.That(
            RoundAccount.Of(Clean with { TableRows = Clean.TableRows + rows }).Problems.Single(),
            Does.EndWith("1,015 expected (1,000 seeded, 5 by the warm-up, 10 by the round)"));

    /// <summary>Another drain's messages, a redelivery: its work is in the figures, whatever the rows say.</summary>
    [TestCase(16)]
    [TestCase(14)]
    public void A_handler_that_returned_not_once_for_each_message_makes_the_round_invalid(int handled) => Assert.That(
        RoundAccount.Of(Clean with { Handled = handled }).Problems, Is.EqualTo([$"handlers returned {handled} times for 15 messages"]));

    [Test]
    public void Many_lost_messages_are_counted_and_three_are_named()
    {
        var account = RoundAccount.Of(Ids(1, 10).Aggregate(Clean, (evidence, id) => WithRows(evidence, id, 0)));

        Assert.That(account.Problems[0], Is.EqualTo($"messages lost: 10 ({Id(1)}, {Id(2)}, {Id(3)}, …)"));
    }

    [Test]
    public void What_is_gravest_is_said_first() =>
        Assert.That(
            RoundAccount.Of(WithRows(WithRows(Queued(Clean, Id(1)), Id(2), 0), Stranger, 1)).Problems.Take(3),
            Is.EqualTo([$"messages unexpected: 1 ({Stranger})", $"messages stuck: 1 ({Id(1)})", $"messages lost: 1 ({Id(2)})"]));

    [Test]
    public void No_messages_are_accounted_for() =>
        Assert.That(
            RoundAccount.Of(Clean with
            {
                Messages = Ids(0, 0),
                WarmUp = Ids(0, 0),
                Handled = 0,
                Found = Clean.Found with { Sendings = [], Rows = [] },
                TableRows = Seeded,
            }).Outcome.IsValid(),
            Is.True);

    [TestCase(0, DeliveryClass.Zombie)]
    [TestCase(1, DeliveryClass.Once)]
    [TestCase(2, DeliveryClass.DuplicatedOutgoing)]
    public void Where_handlers_send_each_message_is_to_have_sent_one(int sent, DeliveryClass expected)
    {
        var others = Announced.Found.Sink.Where(row => row.CausedBy != Victim);
        var evidence = Announced with
        {
            Found = Announced.Found with { Sink = [.. others, .. Enumerable.Repeat(new SinkRow(Victim, Victim), sent)] },
        };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(RoundAccount.Of(evidence).Counts[expected], Is.EqualTo(expected is DeliveryClass.Once ? 10 : 1));
            Assert.That(RoundAccount.Of(evidence).Outcome.IsValid(), Is.EqualTo(expected is DeliveryClass.Once));
        }
    }

    [Test]
    public void What_is_sent_where_handlers_send_nothing_is_unexpected() =>
        Assert.That(
            RoundAccount.Of(Announced with { Deliveries = 0 }).Counts[DeliveryClass.Unexpected], Is.EqualTo(10));

    [Test]
    public void An_event_that_is_once_in_each_of_its_queues_is_delivered()
    {
        var account = RoundAccount.Of(Published);

        Assert.That(account.Problems, Is.Empty);
        Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(10));
    }

    [TestCase(new int[0], DeliveryClass.Zombie, 42)]
    [TestCase(new[] { 0, 2 }, DeliveryClass.Zombie, 44)]
    [TestCase(new[] { 0, 1, 2, 2 }, DeliveryClass.DuplicatedOutgoing, 46)]
    [TestCase(new[] { 0, 0, 1, 1, 2, 2 }, DeliveryClass.DuplicatedOutgoing, 48)]
    public void An_event_that_is_not_once_in_each_makes_the_round_invalid(int[] queues, DeliveryClass expected, int deliveries)
    {
        var account = RoundAccount.Of(WithSink(Published, Victim, [.. queues.Select(queue => new SinkRow(Victim, Victim) { Queue = queue })]));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts[expected], Is.EqualTo(1));
            Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(9));
            Assert.That(account.Problems[0], Does.Contain(Victim.ToString()));
            Assert.That(account.Problems[^1], Is.EqualTo($"deliveries: {deliveries} found, 45 expected (15 events to 3 queues)"));
        }
    }

    // The number of deliveries is right.
    [Test]
    public void An_event_that_is_twice_in_one_queue_and_in_another_not_at_all_makes_the_round_invalid()
    {
        var account = RoundAccount.Of(WithSink(Published, Victim, [.. new[] { 0, 0, 2 }.Select(queue => new SinkRow(Victim, Victim) { Queue = queue })]));

        Assert.That(account.Counts[DeliveryClass.Zombie], Is.EqualTo(1));
        Assert.That(account.Problems, Has.Count.EqualTo(1));
    }

    [Test]
    public void An_event_in_a_queue_that_has_not_subscribed_makes_the_round_invalid_and_is_explained()
    {
        var wrong = new SinkRow(Victim, Victim) { Queue = 3, Mistake = "in d, which has not subscribed" };
        var account = RoundAccount.Of(Published with { Found = Published.Found with { Sink = [.. Published.Found.Sink, wrong] } });

        Assert.That(account.Counts[DeliveryClass.Unexpected], Is.EqualTo(1));
        Assert.That(account.Problems, Contains.Item($"outgoing messages that are wrong: 1 (for {Victim}: in d, which has not subscribed)"));
    }

    [TestCase(14)]
    [TestCase(16)]
    public void A_row_that_counts_other_than_the_messages_makes_the_round_invalid(int counted)
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                RoundAccount.Of(Clean with { Counted = counted }).Problems, Is.EqualTo([$"messages counted in one row: {counted} found, 15 expected"]));
            Assert.That(RoundAccount.Of(Clean with { Counted = 15 }).Problems, Is.Empty);
        }
    }

    [Test]
    public void Forwarded_messages_need_no_rows()
    {
        var account = RoundAccount.Of(Forwarded);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Problems, Is.Empty);
            Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(10));
        }
    }

    [TestCase(0, DeliveryClass.Lost)]
    [TestCase(2, DeliveryClass.DuplicatedOutgoing)]
    public void A_message_that_is_not_forwarded_once_makes_the_round_invalid(int forwarded, DeliveryClass expected)
    {
        var account = RoundAccount.Of(WithSink(Forwarded, Victim, [.. Enumerable.Repeat(new SinkRow(Victim, Victim), forwarded)]));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts[expected], Is.EqualTo(1));
            Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(9));
            Assert.That(account.Problems.Single(), Does.Contain(Victim.ToString()));
        }
    }

    [Test]
    public void A_message_in_another_queue_makes_the_round_invalid_and_is_explained()
    {
        var account = RoundAccount.Of(WithSink(Forwarded, Victim, new SinkRow(Victim, Victim) { Mistake = "in b, expected in a" }));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts[DeliveryClass.Unexpected], Is.EqualTo(1));
            Assert.That(
                account.Problems,
                Is.EqualTo([$"messages unexpected: 1 ({Victim})", $"outgoing messages that are wrong: 1 (for {Victim}: in b, expected in a)"]));
        }
    }

    [Test]
    public void A_message_forwarded_for_the_warm_up_to_another_queue_makes_the_round_invalid() => Assert.That(
        RoundAccount.Of(WithSink(Forwarded, Id(102), new SinkRow(Id(102), Id(102)) { Mistake = "in b, expected in a" })).Problems[0],
        Does.StartWith("messages of the warm-up unexpected: 1"));

    [Test]
    public void A_row_of_a_handler_that_inserts_none_makes_the_round_invalid()
    {
        var account = RoundAccount.Of(WithRows(Forwarded, Victim, 1));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts[DeliveryClass.Unexpected], Is.EqualTo(1));
            Assert.That(account.Problems[^1], Is.EqualTo("rows: 1,001 found, 1,000 expected (1,000 seeded, 0 by the warm-up, 0 by the round)"));
        }
    }

    private static RoundEvidence Forwarded => Announced with
    {
        RowsPerMessage = 0,
        Found = Announced.Found with { Rows = [] },
        TableRows = Seeded,
    };

    private static RoundEvidence Published => Announced with
    {
        Deliveries = 3,
        Found = Announced.Found with { Sink = [.. from row in Announced.Found.Sink from queue in new[] { 0, 1, 2 } select row with { Queue = queue }] },
    };

    private static RoundEvidence WithSink(RoundEvidence evidence, Guid id, params SinkRow[] rows) => evidence with
    {
        Found = evidence.Found with { Sink = [.. evidence.Found.Sink.Where(row => row.CausedBy != id), .. rows] },
    };

    private static RoundEvidence Announced => Clean with
    {
        Deliveries = 1,
        Found = Clean.Found with { Sink = [.. Clean.Found.Rows.Select(row => new SinkRow(row.MessageId, row.MessageId))] },
    };

    private static void AssertUnexpected(RoundEvidence evidence)
    {
        var account = RoundAccount.Of(evidence);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.Counts[DeliveryClass.Once], Is.EqualTo(10));
            Assert.That(account.Counts[DeliveryClass.Unexpected], Is.EqualTo(1));
            Assert.That(account.Counts.Values.Sum(), Is.EqualTo(11));
            Assert.That(account.Outcome.Verdict, Is.EqualTo(Verdict.Invalid));
        }
    }

    private static TestCaseData Mutation(string name, Func<RoundEvidence, RoundEvidence> mutate, DeliveryClass to) =>
        new TestCaseData(mutate, to).SetArgDisplayNames(name, to.ToString());

    private static RoundEvidence WithRows(RoundEvidence evidence, Guid id, int rows)
    {
        var others = evidence.Found.Rows.Where(row => row.MessageId != id).ToList();
        return evidence with
        {
            Found = evidence.Found with { Rows = [.. others, .. Enumerable.Repeat(RowOf(id), rows)] },
            TableRows = evidence.TableRows - evidence.Found.Rows.Count + others.Count + rows,
        };
    }

    /// <summary>Its handler never returned.</summary>
    private static RoundEvidence GivenUp(RoundEvidence evidence, Guid id) =>
        WithErrors(WithRows(evidence, id, 0), id) with { Handled = evidence.Handled - 1 };

    private static RoundEvidence WithErrors(RoundEvidence evidence, params Guid[] ids) =>
        evidence with { Found = evidence.Found with { Errors = ids } };

    private static RoundEvidence Queued(RoundEvidence evidence, Guid id) =>
        evidence with { Found = evidence.Found with { Queue = [new QueueEntry(id, Receivable: true)] } };

    private static WidgetRow RowOf(Guid id) => new(1, id, AttemptId: Guid.Empty);

    private static HashSet<Guid> Ids(int first, int count) => [.. Enumerable.Range(first, count).Select(Id)];

    private static Guid Id(int number) => new(number, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]);
}
