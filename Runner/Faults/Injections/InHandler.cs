using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler itself causes the fault, and its journal says when.</summary>
internal abstract class InHandler(params IReadOnlyList<ScriptedAct> acts) : OneMessage
{
    /// <summary>The timeout of its transaction; <see langword="null"/>: the default.</summary>
    protected virtual TimeSpan? TransactionTimeout => null;

    public override HandlerScript Script => new(acts) { TransactionTimeout = TransactionTimeout };
}
