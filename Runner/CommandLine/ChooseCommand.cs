using System.CommandLine;
using Kit.Guarantees;
using Kit.Runner.Choosing;
using Kit.Runner.Results;

namespace Kit.Runner.CommandLine;

/// <summary><c>choose</c>: the mode for a handler, from a few facts about it.</summary>
internal sealed class ChooseCommand : KitCommand
{
    private static readonly IReadOnlyDictionary<string, RowsPlace> Places = new Dictionary<string, RowsPlace>(StringComparer.Ordinal)
    {
        ["same-database"] = RowsPlace.SameDatabase,
        ["same-server"] = RowsPlace.SameServer,
        ["elsewhere"] = RowsPlace.Elsewhere,
    };

    private static readonly IReadOnlyDictionary<string, Tolerance> Tolerances = new Dictionary<string, Tolerance>(StringComparer.Ordinal)
    {
        ["once"] = Tolerance.Once,
        ["twice"] = Tolerance.Twice,
        ["twice-one-statement"] = Tolerance.TwiceInOneStatement,
        ["loss"] = Tolerance.Loss,
    };

    private readonly CellFilter filter = new(isMatrix: false, ofRounds: false);

    private readonly Option<string> rows = OneOf(
        "--rows", "Where the handler's rows are: in the queue's database, in another database of its server, or elsewhere.", Places.Keys);

    private readonly Option<string> tolerates = OneOf(
        "--tolerates",
        "What may happen to a message after a crash: its rows are there once; it is handled twice; twice, and the handler has one statement; it is lost.",
        Tolerances.Keys);

    private readonly Option<bool> seesRows = new("--sees-rows") { Description = "A worker's next message must see the rows of its last one." };
    private readonly Option<string?> from = new("--run") { Description = "A folder of results. Its rates are shown.", HelpName = "folder" };

    public ChooseCommand()
        : base(
            "choose",
            "Names the transaction mode that a handler needs, on each framework and transport, and the experiment that would refute the advice.",
            ("choose --rows same-server --tolerates once", "exactly once, with rows in another database of the queue's server"),
            ("choose --rows elsewhere --tolerates twice --framework nservicebus --transport rabbitmq", "one framework and transport, with the code"),
            ("choose --rows same-database --tolerates once --run results/my-run", "with the rates of a run"))
    {
        Options.Add(rows);
        Options.Add(tolerates);
        Options.Add(seesRows);
        Options.Add(from);
        foreach (var option in filter.Options.Where(option => option.Name is "--framework" or "--transport"))
            Options.Add(option);

        SetAction(Choose);
    }

    private int Choose(ParseResult parsed)
    {
        var needs = new HandlerNeeds(Places[parsed.GetRequiredValue(rows)], Tolerances[parsed.GetRequiredValue(tolerates)], parsed.GetValue(seesRows));
        var run = parsed.GetValue(from) is { } folder ? RunIn(folder) : null;
        new AdviceText(run, Console.Out).Write(Advice.For(filter.Choose(parsed), needs));
        return ExitCode.Success;
    }

    private static RecordedRun RunIn(string folder) => ResultFolder.Load(folder).Run
        ?? throw new KitException($"{folder} has experiments with faults and no run.", "Name the folder of a run.");

    private static Option<string> OneOf(string name, string description, IEnumerable<string> values)
    {
        var existing = $"Values: {string.Join(", ", values)}.";
        var option = new Option<string>(name) { Description = $"{description} {existing}", HelpName = "value", Required = true };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string>() is { } value && !values.Contains(value, StringComparer.Ordinal))
                result.AddError($"{name}: unknown value '{value}'. {existing}");
        });
        return option;
    }
}
