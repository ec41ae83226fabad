namespace Kit.Handlers;

/// <summary>Builds a widget and counts it in a row that all messages share, like a stock, a balance or an invoice number.</summary>
public sealed class WidgetCounter(WidgetBuilder builder)
{
    /// <summary>The table with that row.</summary>
    public const string Table = "widget_total";

    public async Task BuildAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        await builder.BuildAsync(message, context, cancellationToken);
        // Done last, because the row is locked from here to the commit.
        var connection = await context.GetAsync(cancellationToken);
        await using var command = connection.CreateCommand();
        command.CommandText = $"UPDATE {Table} SET built = built + 1 WHERE id = 1";
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
