namespace Kit.Runner.Html;

/// <summary>Answers to the questions of <c>choose</c>, and its advice for them.</summary>
/// <param name="Rows">Where the rows are.</param>
/// <param name="Tolerates">What a crash may do.</param>
/// <param name="SeesRows">Whether a worker's next message must see the rows of its last one.</param>
/// <param name="Advice">For each framework and transport.</param>
public sealed record Choice(ChoiceAnswer Rows, ChoiceAnswer Tolerates, bool SeesRows, IReadOnlyList<ChoiceAdvice> Advice);

/// <summary>An answer.</summary>
/// <param name="Name">As it is typed on the command line.</param>
/// <param name="Meaning">What it means.</param>
public sealed record ChoiceAnswer(string Name, string Meaning);

/// <summary>The advice for one framework and transport.</summary>
/// <param name="Framework">The framework.</param>
/// <param name="Transport">The transport.</param>
/// <param name="Take">What to take, in words.</param>
/// <param name="Mode">The mode; <see langword="null"/>: none fits.</param>
/// <param name="AfterCrash">The classes in which a crash can leave a message.</param>
/// <param name="LeftOut">The modes that fit better, and why they cannot run there.</param>
/// <param name="Experiments">The commands that would refute it; empty if none can.</param>
/// <param name="Code">The lines that set the mode of an endpoint; empty without a mode.</param>
public sealed record ChoiceAdvice(
    string Framework, string Transport, string Take, string? Mode, string AfterCrash, IReadOnlyList<string> LeftOut, IReadOnlyList<string> Experiments,
    IReadOnlyList<string> Code);

/// <summary>A statement with which the kit counts what is there.</summary>
/// <param name="What">What it counts.</param>
/// <param name="Sql">The statement.</param>
public sealed record Statement(string What, string Sql);
