namespace Kit.Handlers;

/// <summary>The row that a handler inserts.</summary>
/// <param name="Id">A new <see cref="WidgetId"/> for each attempt, so that work done twice shows as two rows.</param>
/// <param name="MessageId">The message that built it. It is not unique in the table, for the same reason.</param>
public sealed record Widget(long Id, Guid MessageId);
