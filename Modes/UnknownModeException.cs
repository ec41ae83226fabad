namespace Kit.Modes;

/// <summary>Code that chooses by mode met one that nobody wired there. There is no default: a mode would silently be another one.</summary>
/// <param name="mode">The mode.</param>
/// <param name="place">What chooses, in words for a user.</param>
public sealed class UnknownModeException(TransactionMode mode, string place)
    : NotSupportedException($"{place}: mode '{mode}' is not known there. Enter it, or say why it is not supported.");
