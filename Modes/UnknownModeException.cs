namespace Kit.Modes;

/// <summary>Code that chooses by mode has no entry for this one. There is no default, because a mode would silently behave as another.</summary>
/// <param name="mode">The mode.</param>
/// <param name="place">What has no entry for it, for the user to read.</param>
public sealed class UnknownModeException(TransactionMode mode, string place)
    : NotSupportedException($"{place}: no entry for mode '{mode}'. Add one, or say why the mode is not supported.");
