using Kit.Runner.Results.Views;

namespace Kit.Runner.Html;

/// <summary>The content of a page.</summary>
/// <param name="CallsOutside">Advice for a handler that calls another system.</param>
public sealed record PageContent(ResultsView View, IReadOnlyList<Choice> Choices, string CallsOutside, IReadOnlyList<Statement> Statements);
