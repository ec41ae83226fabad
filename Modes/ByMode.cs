using System.Collections;

namespace Kit.Modes;

/// <summary>A table with one entry for each mode, and no default.</summary>
/// <param name="place">What the table is for, as error messages name it.</param>
/// <typeparam name="T">What is chosen.</typeparam>
public sealed class ByMode<T>(string place) : IEnumerable<KeyValuePair<TransactionMode, T>>
{
    private readonly Dictionary<TransactionMode, T> entries = [];

    /// <exception cref="UnknownModeException">The mode has no entry.</exception>
    public T Of(TransactionMode mode) => entries.TryGetValue(mode, out var entry) ? entry : throw new UnknownModeException(mode, place);

    /// <exception cref="ArgumentException">The mode already has an entry.</exception>
    public void Add(TransactionMode mode, T entry) => entries.Add(mode, entry);

    /// <summary>Adds one entry for several modes.</summary>
    /// <exception cref="ArgumentException">A mode already has an entry.</exception>
    public void Add(IEnumerable<TransactionMode> modes, T entry)
    {
        ArgumentNullException.ThrowIfNull(modes);
        foreach (var mode in modes)
            Add(mode, entry);
    }

    public IEnumerator<KeyValuePair<TransactionMode, T>> GetEnumerator() => entries.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
