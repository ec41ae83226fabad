namespace Kit.Endpoints.Cells;

/// <summary>The table in PostgreSQL that holds a queue's messages.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Others">The condition, in SQL, that is true of rows of other queues.</param>
public sealed record QueueTable(string Name, string Others)
{
    /// <summary>A table that holds one queue.</summary>
    public static QueueTable Of(string queue) => new(queue, Others: "false");
}
