using System.Globalization;

namespace Kit.Runner.Choosing;

/// <summary>What a team knows about a handler that changes no advice.</summary>
/// <param name="CallsOutside">Whether it calls another system, which no transaction covers.</param>
/// <param name="PerSecond">The messages a second that must be handled; <see langword="null"/> if it is not known.</param>
internal sealed record HandlerLoad(bool CallsOutside = false, double? PerSecond = null)
{
    /// <summary><see cref="PerSecond"/> as it is typed.</summary>
    public string? Rate => PerSecond is { } rate ? string.Create(CultureInfo.InvariantCulture, $"{rate}/s") : null;
}
