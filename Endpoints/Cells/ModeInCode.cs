using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>A mode as applications write it: <c>TransactionMode.FullDtc</c>.</summary>
public static class ModeInCode
{
    public static string Of(TransactionMode mode)
    {
        ArgumentNullException.ThrowIfNull(mode);
        return $"{nameof(TransactionMode)}.{string.Concat(mode.Name.Split('-').Select(word => $"{char.ToUpperInvariant(word[0])}{word[1..]}"))}";
    }
}
