using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Accounts;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Tests.Results.Faults;

/// <summary>What frameworks and brokers are known to make of a fault, held against what was found.</summary>
public sealed class LimitsThatAreKnown
{
    private static readonly Workload Workload = new(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: false);
    private static readonly History Clean = InventedHistory.Clean(3, Workload);
    private static readonly History Doubled = Clean.Row(2, 1);
    private static readonly KnownLimit Doubles = new(
        "postgresql", [TransactionMode.DtcOff], Fault.Poison, Affected.Bystander, new HashSet<DeliveryClass> { Duplicated }, "it doubles");

    [Test]
    public void Explain_a_violation_that_is_broken_all_the_same()
    {
        var violation = Account.Of(Doubled, Workload).ViolationsOf(Allowed, Doubles).Single();

        Assert.That(violation.Known, Is.EqualTo("it doubles"));
    }

    [Test]
    public void Do_not_explain_what_is_only_partly_theirs() =>
        Assert.That(Account.Of(Doubled.DropSink(2), Workload).ViolationsOf(Allowed, Doubles).Single().Known, Is.Null, "it is a zombie, too");

    [TestCase(true, true, true)]
    [TestCase(true, false, false)]
    [TestCase(false, true, false)]
    [TestCase(false, false, true)]
    [TestCase(null, true, true)]
    [TestCase(null, false, true)]
    public void Explain_messages_in_the_error_queue_or_others_or_both(bool? givenUp, bool isGivenUp, bool isKnown)
    {
        var zombie = Clean.DropSink(2);
        var found = isGivenUp ? zombie.InErrorQueue(2) : zombie;
        var gone = Doubles with { Classes = new HashSet<DeliveryClass> { Zombie }, GivenUp = givenUp };

        Assert.That(Account.Of(found, Workload).ViolationsOf(Allowed, gone).Single().Known is not null, Is.EqualTo(isKnown));
    }

    [Test]
    public void Are_the_reason_of_a_result_when_they_explain_every_violation()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(ResultOf(Known, Known).Known, Is.EqualTo("it doubles"));
            Assert.That(ResultOf(Known, Unknown).Known, Is.Null);
            Assert.That(ResultOf().Known, Is.Null);
            Assert.That(ResultOf(Known).IsGood, Is.False);
        }
    }

    [Test]
    public void Are_stored_with_at_least_one_violation_each_after_those_that_nobody_explains()
    {
        Violation[] all =
        [
            .. Enumerable.Repeat(Known, 6), Known with { Known = "it is late" }, Known with { Because = "message 1 is torn; allowed: once" }, Unknown,
        ];

        var stored = FaultResult.StoredOf(all);

        Assert.That(stored.Select(one => $"{string.Join(' ', one.Classes)} {one.Known}"), Is.EqualTo(
            ["Lost ", "Lost it doubles", "Lost it is late", "Torn it doubles", "Lost it doubles"]));
        Assert.That(FaultResult.StoredOf(Enumerable.Range(0, 7).Select(reason => Known with { Known = $"{reason}" })), Has.Count.EqualTo(7));
    }

    private static IEnumerable<KnownLimit> All => EndpointKinds.Frameworks.SelectMany(framework => framework.Limits);

    [TestCaseSource(nameof(All))]
    public void Say_what_is_not_kept_and_why(KnownLimit limit)
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(limit.Modes, Is.Not.Empty);
            Assert.That(limit.Classes, Is.Not.Empty);
            Assert.That(limit.Reason, Is.Not.Empty.And.Not.EndWith("."));
            Assert.That(limit.Reason, Does.Not.Contain("experiment"), "the kit's patience is no limit of theirs");
        }
    }

    /// <summary>
    /// Finding 18: Rebus commits the receive of a message that it has given up. And nothing recovers the driver's two-phase commit, which a handler can leave.
    /// SQL Server goes on after a failed statement.
    /// </summary>
    private static readonly IReadOnlyList<(string Framework, TransactionMode Mode, Fault Fault)> OneUnitInPieces =
    [
        ("rebus", TransactionMode.Shared, Fault.Poison), ("rebus", TransactionMode.Shared, Fault.ReceiveLost),
        ("bare", TransactionMode.NpgsqlScope, Fault.SettingsLeft),
        ("bare", TransactionMode.FullDtc, Fault.SwallowedError), ("bare", TransactionMode.FullDtcPromoted, Fault.SwallowedError),
        ("nservicebus", TransactionMode.FullDtc, Fault.SwallowedError), ("nservicebus", TransactionMode.FullDtcPromoted, Fault.SwallowedError),
    ];

    [Test]
    public void Excuse_no_effect_where_receive_rows_and_dead_letter_are_one_unit() => Assert.That(
        from framework in EndpointKinds.Frameworks
        from limit in framework.Limits
        from mode in limit.Modes
        where mode.IsOneUnit && limit.Classes.Any(HasAnEffect)
        select (framework.Name, mode, limit.Fault),
        Is.EquivalentTo(OneUnitInPieces));

    [Test]
    public void Excuse_rows_of_a_given_up_message_in_no_outbox_of_the_kit_s_own() => Assert.That(
        from framework in EndpointKinds.Frameworks
        where framework.Limits.Any(limit => limit is { GivenUp: not false } && limit.Modes.Contains(TransactionMode.Outbox) && limit.Classes.Contains(Zombie)
            && limit.Fault != Fault.LateQueue)
        select framework.Name,
        Is.EquivalentTo(["nservicebus", "wolverine"]));

    [TestCase(false, 5, 2, 0, ExpectedResult = 4)]
    [TestCase(false, 5, 0, 0, ExpectedResult = 0)]
    [TestCase(true, 5, 2, 0, ExpectedResult = 14)]
    [TestCase(false, 5, 2, 1, ExpectedResult = null)]
    public int? Explain_no_more_of_a_storm_than_its_faults_have_met(bool alsoAfterAKill, int kills, int cuts, int serverCrashes) =>
        (Doubles with { AlsoAfterAKill = alsoAfterAKill }).MostInAStorm(kills, cuts, serverCrashes, unsettled: 2);

    [TestCase(1, 4, ExpectedResult = true)]
    [TestCase(1, 5, ExpectedResult = false, Description = "one message more than two cuts can meet with two workers")]
    [TestCase(0, 1, ExpectedResult = false, Description = "nothing was cut")]
    public bool Of_a_storm_explain_too_many_messages_only_if_they_explain_each(int hasCuts, int messages)
    {
        var facts = new StormFacts(Seed: 1, Kills: 5, Cuts: hasCuts * 2, InFlight: 14) { Touched = messages, MostTouched = 0 };

        var violations = StormLimits.ViolationsOf(facts, [.. Enumerable.Repeat(Known, messages)], [Doubles], unsettled: 2);

        Assert.That(violations, Has.Count.EqualTo(messages + 1));
        Assert.That(violations.Select(violation => violation.Known is not null).Distinct(), Has.Exactly(1).Items);
        return violations[0].Known is not null;
    }

    [Test]
    public void Of_a_storm_do_not_explain_messages_beyond_the_promised_number()
    {
        var facts = new StormFacts(Seed: 1, Kills: 0, Cuts: 2, InFlight: 4) { Touched = 6, MostTouched = 4 };

        var violations = StormLimits.ViolationsOf(facts, [Known], [Doubles], unsettled: 2);

        Assert.That(violations.Select(violation => violation.Known), Is.EqualTo(new[] { null, "it doubles" }));
    }

    [Test]
    public void Are_found_by_cell_fault_and_message()
    {
        static string? ReasonOf(TransactionMode mode, Affected affected) =>
            FactsOfNServiceBus.Facts.Limits
                .SingleOrDefault(limit => limit.IsOf("rabbitmq", mode, Fault.FailedDispatch, affected, deadLettersNext: false))?.Reason;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(ReasonOf(TransactionMode.DtcOff, Affected.Bystander), Does.StartWith("the endpoint has one channel"));
            Assert.That(ReasonOf(TransactionMode.DtcOff, Affected.Chosen), Is.Null);
            Assert.That(ReasonOf(TransactionMode.TransactionsOff, Affected.Bystander), Is.Null);
        }
    }

    private static bool HasAnEffect(DeliveryClass kind) => kind is not (Stuck or Lost or CleanError or Recovered or Once);

    private static HashSet<DeliveryClass> Allowed => [Once];

    private static Violation Unknown => new(Guid.Empty, "message 1 is lost; allowed: once", []);

    private static Violation Known => Unknown with { Known = "it doubles" };

    private static FaultResult ResultOf(params Violation[] violations) => new()
    {
        Cell = InventedRun.Cell("dtc-off"),
        Fault = Fault.Poison.Name,
        Verdict = FaultVerdict.Broken,
        Violations = violations,
        ViolationCount = violations.Length,
    };
}
