using Kit.Runner.Results.Views;

namespace Kit.Runner.Html;

/// <summary>The content of a page.</summary>
/// <param name="CallsOutside">Advice for a handler that calls another system.</param>
public sealed record PageContent(ResultsView View, IReadOnlyList<Choice> Choices, string CallsOutside, IReadOnlyList<Statement> Statements);

/// <summary>Answers to the questions of <c>choose</c>, and its advice for them.</summary>
/// <param name="Rows">The answer about the place of the rows.</param>
/// <param name="SeesRows">True if a worker's next message must see the rows of its last one.</param>
/// <param name="Advice">For each framework and transport.</param>
public sealed record Choice(ChoiceAnswer Rows, ChoiceAnswer Tolerates, bool SeesRows, IReadOnlyList<ChoiceAdvice> Advice);

/// <summary>An answer.</summary>
/// <param name="Name">As typed on the command line.</param>
public sealed record ChoiceAnswer(string Name, string Meaning);

/// <summary>The advice for one framework and transport.</summary>
/// <param name="Take">The advised mode in words.</param>
/// <param name="Mode"><see langword="null"/>: none fits.</param>
/// <param name="LeftOut">Modes that fit better, and the reasons why they cannot run there.</param>
/// <param name="Experiments">Commands that would refute the advice; empty if none can.</param>
/// <param name="Code">Lines that set the mode of an endpoint; empty without a mode.</param>
/// <param name="Subject">The cell's name with dots, without a scenario; <see langword="null"/> without a mode.</param>
public sealed record ChoiceAdvice(
    string Framework, string Transport, string Take, string? Mode, string AfterCrash, IReadOnlyList<string> LeftOut, IReadOnlyList<string> Experiments,
    IReadOnlyList<string> Code, string? Subject);

/// <summary>A statement with which the kit counts rows.</summary>
/// <param name="What">The counted things.</param>
public sealed record Statement(string What, string Sql);
