using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Choosing;
using Kit.Runner.Measuring;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;
using Kit.Runner.Terminal;
using Spectre.Console;

namespace Kit.Runner.CommandLine;

/// <summary><c>choose</c>: the mode for a handler, from a few facts about it.</summary>
internal sealed class ChooseCommand : KitCommand
{
    private const string SeesRows = "A worker's next message must see the rows of its last one.";
    private const string CallsOutside = "The handler calls another system, such as an HTTP service or a mail server.";
    private const string Where = "The framework, and what holds the messages.";

    private readonly CellFilter filter = CellFilter.Of(Axis.Framework, Axis.Transport);

    private readonly Question<RowsPlace> rows = new(
        "--rows",
        "Where the handler's rows are.",
        NeedsInWords.Places);

    private readonly Question<Tolerance> tolerates = new(
        "--tolerates",
        "What a crash may do to a message.",
        NeedsInWords.Tolerances);

    private readonly Option<bool> seesRows = new("--sees-rows") { Description = SeesRows };
    private readonly Option<bool> callsOutside = new("--calls-outside") { Description = CallsOutside };

    private readonly Option<double?> rate = NumberOption.Rate(
        "--rate", "With --run: the messages a second that arrive. The run's drains are compared with it.", RateSearch.Lowest, RateSearch.Highest);

    private readonly Option<string?> run = new("--run") { Description = "A folder of results. Its rates are shown.", HelpName = "folder" };

    public ChooseCommand()
        : base(
            "choose",
            "Names the transaction mode that a handler needs, on each framework and transport, and the experiment that would refute the advice. " +
            "On a terminal it asks for what is not given.",
            ("choose --rows same-server --tolerates once", "exactly once, with rows in another database of the queue's server"),
            ("choose --rows elsewhere --tolerates twice --framework nservicebus --transport rabbitmq", "one framework and transport, with the code"),
            ("choose --rows same-database --tolerates once --run results/my-run --rate 500/s", "with the rates of a run, and whether its drains reach yours"),
            ("choose", "asks one question after the other"))
    {
        Options.Add(rows.Option);
        Options.Add(tolerates.Option);
        Options.Add(seesRows);
        Options.Add(callsOutside);
        Options.Add(run);
        Options.Add(rate);
        filter.AddTo(this);
        run.NotEmpty();
        Validators.Add(RequireAnswers);
        Validators.Add(RequireRun);
        SetAction(ChooseAsync);
    }

    private static bool CanAsk =>
        !Console.IsInputRedirected && !Console.IsOutputRedirected && AnsiConsole.Profile.Capabilities is { Interactive: true, Ansi: true };

    private async Task<int> ChooseAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var typed = filter.Typed(parsed);
        var cells = filter.Choose(parsed);
        if (cells.Count == 0)
            throw NoSuchPair(typed);

        var folder = parsed.GetValue(run);
        var measured = folder is null ? ((string, RecordedRun)?)null : (folder, RunIn(folder));
        var mustAsk = !IsAnswered(parsed.CommandResult);
        var place = await rows.AnswerAsync(parsed, cancellationToken);
        var tolerance = await tolerates.AnswerAsync(parsed, cancellationToken);
        var (sees, load) = (parsed.GetValue(seesRows), new HandlerLoad(parsed.GetValue(callsOutside), parsed.GetValue(rate)));
        if (mustAsk)
        {
            // Elsewhere it changes nothing.
            if (!sees && place.Value is (RowsPlace.SameServer or RowsPlace.AnotherServer))
                sees = await IsItSoAsync(SeesRows, "it need not", "it must", cancellationToken);
            if (!load.CallsOutside)
                load = load with { CallsOutside = await IsItSoAsync(CallsOutside, "it does not", "it does", cancellationToken) };
            if (typed.Count == 0)
                (typed, cells) = (await Question<(IReadOnlyList<string>, IReadOnlyList<Cell>)>.AskAsync(Where, Pairs(cells), cancellationToken)).Value;

            Console.Out.WriteLine("Without the questions: " + string.Join(
                ' ',
                [
                    "./run.sh", Name, rows.Option.Name, place.Name, tolerates.Option.Name, tolerance.Name, .. sees ? [seesRows.Name] : Array.Empty<string>(),
                    .. load.CallsOutside ? [callsOutside.Name] : Array.Empty<string>(), .. typed, .. folder is null ? [] : new[] { run.Name, folder },
                    .. load.Rate is { } wanted ? [rate.Name, wanted] : Array.Empty<string>(),
                ]));
            Console.Out.WriteLine();
        }

        var needs = new HandlerNeeds(place.Value, tolerance.Value, SeesRows: sees);
        new AdviceText(measured, load, Console.Out).Write(Advice.For(cells, needs));
        return ExitCode.Success;
    }

    private bool IsAnswered(SymbolResult parsed) => rows.IsAnswered(parsed) && tolerates.IsAnswered(parsed);

    private void RequireAnswers(CommandResult parsed)
    {
        if (CanAsk)
            return;
        if (!rows.IsAnswered(parsed))
            parsed.AddError($"Option '{rows.Option.Name}' is required.");
        if (!tolerates.IsAnswered(parsed))
            parsed.AddError($"Option '{tolerates.Option.Name}' is required.");
    }

    private void RequireRun(CommandResult parsed)
    {
        if (IsGiven(parsed, rate) && !IsGiven(parsed, run))
            parsed.AddError($"{rate.Name}: it is compared with the rates of a run; name one with {run.Name}.");
    }

    private static async Task<bool> IsItSoAsync(string text, string no, string yes, CancellationToken cancellationToken) =>
        (await Question<bool>.AskAsync(text, [new("no", no, false), new("yes", yes, true)], cancellationToken)).Value;

    /// <summary>Every framework and transport, and each pair of them.</summary>
    private static IEnumerable<Answer<(IReadOnlyList<string> Typed, IReadOnlyList<Cell> Cells)>> Pairs(IReadOnlyList<Cell> cells) =>
    [
        new("all", "every framework on every transport", ([], cells)),
        .. from cell in cells
           group cell by cell.Kind into kind
           let names = new[] { $"--{Axis.Framework.Name}", kind.Key.Framework, $"--{Axis.Transport.Name}", kind.Key.Transport }
           select new Answer<(IReadOnlyList<string>, IReadOnlyList<Cell>)>(kind.Key.Framework, $"on {kind.Key.Transport}", (names, [.. kind])),
    ];

    private static KitException NoSuchPair(IReadOnlyList<string> typed) => new(
        $"{string.Join(' ', typed)}: the kit has no such pair. " +
        $"Pairs: {string.Join(", ", EndpointKinds.All.Select(kind => $"{kind.Framework}/{kind.Transport}"))}.",
        "Name one of the pairs, or leave out one of the two options.")
    { IsUsage = true };

    private static RecordedRun RunIn(string folder) => ResultFolder.Load(folder).Run
        ?? throw new KitException($"{folder} has experiments with faults and no run.", "Name the folder of a run.");
}
