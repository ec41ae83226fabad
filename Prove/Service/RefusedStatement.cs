using System.Diagnostics;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>A statement of a proof file that PostgreSQL does not execute, at present or at all.</summary>
internal sealed class RefusedStatement
{
    /// <summary>
    /// Time for which a column or a function may be missing: an application that creates its tables can add them one statement later, and one that finds
    /// its tables when it has started.
    /// </summary>
    private static readonly TimeSpan ToBeAdded = TimeSpan.FromSeconds(10);

    private readonly Stopwatch watch = new();
    private string? state;

    /// <summary>True if the application can still create the missing object. A wrong statement stays wrong.</summary>
    public bool CanComeRight(PostgresException refusal) => IsAwaited(refusal) is true;

    /// <summary>True if the statement is wrong, whatever the application does. Any other refusal can pass, such as a lock or a server that starts.</summary>
    public bool IsWrong(PostgresException refusal) => IsAwaited(refusal) is false;

    /// <summary>The server's words and the place in the statement, on one line.</summary>
    public static string TextOf(PostgresException refusal) =>
        refusal.Position > 0 ? $"{refusal.MessageText} at character {refusal.Position}" : refusal.MessageText;

    /// <summary>True if the missing object is still awaited; <see langword="null"/>: nothing is missing, and something else is wrong.</summary>
    private bool? IsAwaited(PostgresException refusal)
    {
        var since = Since(refusal);
        return refusal.SqlState switch
        {
            PostgresErrorCodes.UndefinedTable or PostgresErrorCodes.InvalidSchemaName => true,
            PostgresErrorCodes.UndefinedColumn or PostgresErrorCodes.UndefinedFunction => since < ToBeAdded,
            PostgresErrorCodes.SyntaxError => false,
            _ => null,
        };
    }

    /// <summary>Time since the server first refused it for the same reason: a table that comes late can get its columns after that.</summary>
    private TimeSpan Since(PostgresException refusal)
    {
        if (refusal.SqlState != state)
            watch.Restart();
        state = refusal.SqlState;
        return watch.Elapsed;
    }
}
