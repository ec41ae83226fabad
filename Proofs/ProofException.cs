namespace Kit.Proofs;

/// <summary>Nothing could be proved: the runner is missing or failed, or the proof file does not fit the application. The message says what to do.</summary>
public sealed class ProofException : Exception
{
    public ProofException()
    {
    }

    public ProofException(string message)
        : base(message)
    {
    }

    public ProofException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
