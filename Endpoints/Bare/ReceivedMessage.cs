namespace Kit.Endpoints.Bare;

/// <summary>A message as it was in the queue.</summary>
/// <param name="MessageId">Its id.</param>
/// <param name="Type">The name of its type.</param>
/// <param name="Body">Its JSON body.</param>
/// <param name="FailedAttempts">How many attempts have failed before, as the queue has it.</param>
/// <param name="Headers">Its headers.</param>
internal abstract record ReceivedMessage(
    Guid MessageId, string Type, byte[] Body, int FailedAttempts, IReadOnlyDictionary<string, string> Headers)
{
    /// <summary>
    /// How many attempts have failed before. Another sender can have written any number: one below 0 counts as 0, and the largest leaves room for one more.
    /// </summary>
    public int FailedAttempts { get; init => field = Clamped(value); } = Clamped(FailedAttempts);

    private static int Clamped(int count) => Math.Clamp(count, 0, int.MaxValue - 1);
}
