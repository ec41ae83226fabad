using Kit.Runner.Results.Views;

namespace Kit.Runner.Html;

/// <summary>All that a page shows.</summary>
/// <param name="View">The results.</param>
/// <param name="Choices">The advice for every combination of answers.</param>
/// <param name="CallsOutside">What a handler that calls another system must know.</param>
/// <param name="Statements">What counted the rows.</param>
public sealed record PageContent(ResultsView View, IReadOnlyList<Choice> Choices, string CallsOutside, IReadOnlyList<Statement> Statements);
