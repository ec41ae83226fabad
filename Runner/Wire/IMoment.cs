namespace Kit.Runner.Wire;

/// <summary>The moment of a handling at which a <see cref="RequestGate"/> stops: one of its requests.</summary>
internal interface IMoment
{
    /// <summary>True if a transaction that is open when the gate is armed can have the request.</summary>
    bool IsInAnyTransaction { get; }

    /// <summary>True if a request may be the moment, as far as can be known before its answer has come.</summary>
    bool IsLike(SeenRequest asking);

    /// <summary>The reason why its answer shows that it is another moment; <see langword="null"/>: it does not.</summary>
    string? WhyNotAnswered(string? outcome);

    /// <summary>The reason why it is another moment; <see langword="null"/>: it is this one.</summary>
    /// <param name="before">The requests before it in its transaction.</param>
    /// <param name="others">All requests before it.</param>
    /// <param name="isUnderWay">
    /// True if a request's answer cannot count: it was not known at that moment, or the fault made it.
    /// </param>
    string? WhyNot(IReadOnlyList<SeenRequest> before, IEnumerable<SeenRequest> others, Func<SeenRequest, bool> isUnderWay);
}
