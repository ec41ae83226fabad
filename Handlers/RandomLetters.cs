namespace Kit.Handlers;

/// <summary>Text that makes a message larger.</summary>
public static class RandomLetters
{
    private const string Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    private const int Seed = 1;

    /// <summary>Always the same letters. A server compresses each message by itself, and random letters hardly.</summary>
    /// <param name="count">How many.</param>
    public static string Of(int count) => new(new Random(Seed).GetItems<char>(Letters, count));
}
