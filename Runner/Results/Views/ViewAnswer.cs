using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Views;

/// <summary>A question of readers, and one sentence of this run.</summary>
/// <param name="Phrases">The sentence in pieces; a piece with a figure leads to its evidence.</param>
public sealed record ViewAnswer(string Question, [property: JsonIgnore] IReadOnlyList<ViewPhrase> Phrases)
{
    /// <summary>The sentence.</summary>
    public string Text => string.Concat(Phrases.Select(phrase => phrase.Text));
}

/// <summary>A piece of a sentence.</summary>
/// <param name="Evidence">The part of the page that shows the source of a figure; <see langword="null"/>: nothing to show.</param>
public sealed record ViewPhrase(string Text, string? Evidence = null);
