namespace Kit.Tests;

/// <summary>Runs only with <c>-p:Exhaustive=true</c>: what takes long, and whose kin runs always.</summary>
[AttributeUsage(AttributeTargets.Assembly | AttributeTargets.Class | AttributeTargets.Method)]
public sealed class ExhaustiveAttribute() : CategoryAttribute(Category)
{
    /// <summary>For a single <see cref="TestCaseAttribute"/>.</summary>
    public const string Category = "Exhaustive";
}
