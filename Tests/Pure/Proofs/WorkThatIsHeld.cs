using System.Text.Json;
using Kit.Prove.Service;

namespace Kit.Tests.Proofs;

/// <summary>What the columns of a work's row say of it.</summary>
[Parallelizable]
public sealed class WorkThatIsHeld
{
    private static readonly WorkRow PutIn = Row("jobs", """{ "id": 1, "locked_at": null, "locked_by": null, "attempts": 0, "run_at": "a", "note": "x" }""");

    [Test]
    public void Changed_columns_are_named() => Assert.That(
        HeldWork.LinesOf([PutIn], [Row("jobs", """{ "id": 1, "locked_at": "12:00", "locked_by": "w1", "attempts": 0, "run_at": "a", "note": "x" }""")]),
        Is.EqualTo(["its row in jobs has changed since it was put in: locked_at null → 12:00, locked_by null → w1"]));

    [Test]
    public void Of_many_columns_some_are_named_and_long_values_are_shortened() => Assert.That(
        HeldWork.LinesOf(
            [PutIn], [Row("jobs", $$"""{ "id": 2, "locked_at": "b", "locked_by": "{{new string('n', 60)}}", "attempts": 1, "run_at": "b", "note": "y" }""")]),
        Is.EqualTo(
        [
            $"its row in jobs has changed since it was put in: id 1 → 2, locked_at null → b, locked_by null → {new string('n', 40)} …, attempts 0 → 1, " +
            "and 2 more columns",
        ]));

    [Test]
    public void A_row_of_several_is_compared_with_the_one_it_was() => Assert.That(
        HeldWork.LinesOf(
            [Row("jobs", """{ "id": 1, "state": "new" }"""), Row("jobs", """{ "id": 2, "state": "new" }""")],
            [Row("jobs", """{ "id": 2, "state": "taken" }""")]),
        Is.EqualTo(["its row in jobs has changed since it was put in: state new → taken"]));

    [Test]
    public void A_row_that_is_as_it_was_or_came_later_or_was_never_seen_is_told_as_such()
    {
        Assert.That(HeldWork.LinesOf([PutIn], [PutIn]), Is.EqualTo(["its row in jobs is as it was put in"]));
        Assert.That(
            HeldWork.LinesOf([PutIn], [Row("seen", """{ "id": 1 }""")]), Is.EqualTo(["a row in seen has its id, and came after it was put in"]));
        Assert.That(HeldWork.LinesOf(before: null, [PutIn]), Is.EqualTo(["its row is in jobs"]));
        Assert.That(HeldWork.LinesOf([PutIn], []), Is.Empty);
    }

    private static WorkRow Row(string table, string columns) => new(table, JsonSerializer.Deserialize<Dictionary<string, JsonElement>>(columns)!);
}
