namespace Orders;

/// <summary>A setting cannot be used. The message says which one, what was expected, and what to do.</summary>
internal sealed class SettingsException(string message, Exception? cause = null) : Exception(message, cause);
