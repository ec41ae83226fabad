using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Results.Pages;

public sealed class BlocksOfTheMatrix
{
    private static readonly ShownKind Tables = Kind("bare", "Tables", Support.Yes);

    private static readonly ShownKind Broker = Kind("bare", "Broker", Support.Yes, ("full-dtc", "it has no prepare"), ("shared", "it has no prepare"));

    private static readonly ShownKind Framed = Kind(
        "Frame", "Broker", Support.Yes, ("full-dtc", "it has no prepare"), ("shared", "it has no prepare"), ("outbox", "it has its own"));

    private static readonly ShownKind Missing = Kind("Absent", "Tables", Support.Missing("the feed has none"));

    private static readonly ShownKind NotRun = Kind("bare", "Other", Support.Missing("the feed has none")) with { HasBeenRun = false };

    [Test]
    public void Say_what_runs_where()
    {
        using var repository = new InventedRepository { Kinds = [Tables, Broker, NotRun, Framed] };

        Assert.That(repository.Made("what-runs"), Is.EqualTo(
            """
            |  | Tables | Broker | Other |
            | --- | --- | --- | --- |
            | bare | every mode | all but `full-dtc` and `shared` | not run yet |
            | Frame | – | `dtc-off`, `scope-off`, `transactions-off` | – |
            """.ReplaceLineEndings("\n")));
    }

    [Test]
    public void Keep_the_rows_of_what_this_build_lacks_and_say_so()
    {
        using var repository = new InventedRepository { Kinds = [Tables, Missing] };
        repository.Write("docs/page.md", "<!-- block: what-runs -->\n| Absent | kept |\n| old |\n<!-- /block -->\n");

        var page = repository.Make().Single();

        Assert.That(page.Text, Does.Contain("| Absent | kept |\n<"));
        Assert.That(page.Kept, Is.EqualTo(new[] { "docs/page.md:1: block what-runs, row Absent: left as it is, this build lacks its packages" }));
    }

    [Test]
    public void Are_not_made_where_nothing_is_there_to_keep()
    {
        using var repository = new InventedRepository { Kinds = [Tables, Missing] };

        Assert.That(
            () => repository.Made("what-runs"),
            Throws.TypeOf<KitException>().With.Message.Contains("block 'what-runs': this build lacks the packages of Absent, and the block has no row"));
    }

    private static ShownKind Kind(string framework, string transport, Support usual, params (string Mode, string Because)[] without) => new(
        framework,
        transport,
        HasBeenRun: true,
        TransactionMode.All.ToDictionary(
            mode => mode,
            mode => without.FirstOrDefault(no => no.Mode == mode.Name) is { Because: { } because } ? Support.No(because) : usual));
}
