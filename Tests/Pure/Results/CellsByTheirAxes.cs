using System.Text.Json;
using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>Cells that name an axis more than those of every day, as they will once the matrix has grown.</summary>
public sealed class CellsByTheirAxes
{
    private static readonly CellName Plain = InventedRun.Cell("dtc-off");
    private static readonly CellName Flushed = new([.. Plain.Values, ("flush", "group")]);

    [Test]
    public void A_document_keeps_them_in_order() =>
        Assert.That(
            JsonSerializer.Serialize(Flushed),
            Is.EqualTo("""{"framework":"bare","transport":"postgresql","mode":"dtc-off","access":"ado","flush":"group"}"""));

    [Test]
    public void A_document_gives_them_back() =>
        Assert.That(JsonSerializer.Deserialize<CellName>(JsonSerializer.Serialize(Flushed)), Is.EqualTo(Flushed));

    [TestCase("""{"framework":"bare","transport":"postgresql","access":"ado"}""", "mode")]
    [TestCase("""{"framework":"bare","framework":"bare","transport":"postgresql","mode":"shared"}""", "once")]
    [TestCase("""{"framework":"bare","transport":"postgresql","mode":7}""", "mode")]
    [TestCase("[]", "object")]
    public void A_damaged_one_is_refused(string json, string because) =>
        Assert.That(() => JsonSerializer.Deserialize<CellName>(json), Throws.InstanceOf<JsonException>().With.Message.Contains(because));

    [Test]
    public void Names_of_cells_and_graphs_have_their_values_in_order()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Flushed.ToString(), Is.EqualTo("bare/postgresql/dtc-off/ado/group"));
            Assert.That(
                (InventedRun.Round("dtc-off", 2, seconds: 1) with { Cell = Flushed }).GraphId,
                Is.EqualTo("bare.postgresql.dtc-off.ado.group.round-2.attempt-1"));
            Assert.That(Flushed.Group, Is.EqualTo("bare/postgresql/ado/group"));
        }
    }

    [Test]
    public void A_cell_of_another_value_is_another_cell()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Flushed, Is.Not.EqualTo(Plain));
            Assert.That(Flushed.With("flush", "each"), Is.Not.EqualTo(Flushed));
            Assert.That(Flushed.With("flush", "each").With("flush", "group"), Is.EqualTo(Flushed));
        }
    }

    [Test]
    public void The_csv_has_a_column_for_the_axis_and_says_what_a_name_leaves_out()
    {
        var run = new RecordedRun(
            InventedRun.Document with { Cells = [Plain, Flushed], Implied = new Dictionary<string, string> { ["flush"] = "each" } },
            [InventedRun.Round("dtc-off", 1, seconds: 2), InventedRun.Round("dtc-off", 1, seconds: 1) with { Cell = Flushed }]);
        using var csv = new StringWriter();

        RoundsCsv.Write(run, csv);

        var lines = csv.ToString().Split('\n');
        using (Assert.EnterMultipleScope())
        {
            Assert.That(lines[0], Does.StartWith("framework,transport,mode,access,flush,round,"));
            Assert.That(lines[1], Does.StartWith("bare,postgresql,dtc-off,ado,each,1,"));
            Assert.That(lines[2], Does.StartWith("bare,postgresql,dtc-off,ado,group,1,"));
        }
    }

    [Test]
    public void Modes_are_set_against_the_strictest_of_the_same_value()
    {
        var strict = InventedRun.Cell("full-dtc");
        var run = new RecordedRun(InventedRun.Document with { Cells = [strict, Plain, Flushed] }, []);

        Assert.That(run.Cells.Where(run.IsStrictest).Select(result => result.Cell), Is.EqualTo([strict, Flushed]));
    }

    [Test]
    public void A_cell_in_batches_is_set_against_the_one_without_and_shows_its_redo_bound()
    {
        var batched = new CellName([.. Plain.Values, ("batch", "10")]);
        var run = new RecordedRun(
            InventedRun.Document with { Cells = [Plain, batched], Implied = new Dictionary<string, string> { ["batch"] = "1" } },
            [InventedRun.Round("dtc-off", 1, seconds: 2), InventedRun.Round("dtc-off", 1, seconds: 1) with { Cell = batched }]);

        var rows = SummaryTable.Of(run, SummaryTable.SpeedOf(run).Where(column => column.Header is "Ratio to default" or "Redo bound")).Rows;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(rows[0], Is.EqualTo(["bare/postgresql/dtc-off/ado", "1", "2"]));
            Assert.That(rows[1][1], Does.StartWith("2.00"));
            Assert.That(rows[1][2], Is.EqualTo("20"));
        }
    }

    [TestCase("none", true)]
    [TestCase("last", false)]
    public void Where_no_commit_waits_the_legend_says_what_a_crash_of_the_server_takes_back(string flush, bool isSaid)
    {
        var cell = new CellName([.. Plain.Values, ("flush", flush)]);
        var run = new RecordedRun(
            InventedRun.Document with { Cells = [Plain, cell], Implied = new Dictionary<string, string> { ["flush"] = "every" } }, []);

        Assert.That(ReportText.SummaryLegendOf(run).Contains("3 × wal_writer_delay", StringComparison.Ordinal), Is.EqualTo(isSaid));
    }

    [TestCase("misplaced")]
    [TestCase("99")]
    [TestCase("lost, stuck")]
    [TestCase("LOST")]
    public void A_round_with_a_class_that_is_none_is_refused(string name)
    {
        var stored = JsonSerializer.Serialize(InventedRun.Round("dtc-off", 1, seconds: 1), ResultJson.Options)
            .Replace("\"cleanError\"", $"\"{name}\"", StringComparison.Ordinal);

        Assert.That(
            () => JsonSerializer.Deserialize<RoundDocument>(stored, ResultJson.Options),
            Throws.InstanceOf<JsonException>().With.Message.Contains($"'{name}' is not a class"));
    }
}
