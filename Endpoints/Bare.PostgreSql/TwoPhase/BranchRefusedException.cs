namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A prepared transaction was not ended. If it existed, it is still prepared.</summary>
/// <param name="message">What was expected and what was found.</param>
/// <param name="remedy">What to do about it.</param>
/// <param name="cause">The server's refusal.</param>
public sealed class BranchRefusedException(string message, string remedy, Exception? cause = null) : Exception(message, cause)
{
    public string Remedy { get; } = remedy;
}
