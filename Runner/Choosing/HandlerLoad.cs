using System.Globalization;

namespace Kit.Runner.Choosing;

/// <summary>Facts about a handler that change no advice.</summary>
/// <param name="CallsOutside">True if it calls another system, which no transaction covers.</param>
/// <param name="PerSecond">Messages a second that must be handled; <see langword="null"/> if unknown.</param>
internal sealed record HandlerLoad(bool CallsOutside = false, double? PerSecond = null)
{
    /// <summary><see cref="PerSecond"/> as it is typed.</summary>
    public string? Rate => PerSecond is { } rate ? string.Create(CultureInfo.InvariantCulture, $"{rate}/s") : null;
}
