using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Html;

namespace Kit.Runner.Choosing;

/// <summary>The advice for every combination of answers, as a page shows it.</summary>
internal static class ChoicesOfAPage
{
    private static readonly IReadOnlyList<bool> SeesRows = [false, true];

    public static IReadOnlyList<Choice> All =>
    [
        .. from place in NeedsInWords.Places
           from tolerance in NeedsInWords.Tolerances
           from sees in SeesRows
           let needs = new HandlerNeeds(place.Value, tolerance.Value, sees)
           select new Choice(AnswerOf(place), AnswerOf(tolerance), sees, [.. Advice.For(Cell.All, needs).Select(AdviceOf)]),
    ];

    private static ChoiceAnswer AnswerOf<T>(Answer<T> answer) => new(answer.Name, answer.Meaning);

    private static ChoiceAdvice AdviceOf(Advice advice) => new(
        advice.Kind.Framework, advice.Kind.Transport, AdviceText.TakeOf(advice), advice.Cell?.Mode.Name, AdviceText.ClassesOf(advice),
        [.. advice.LeftOut.GroupBy(left => left.Because).Select(same => $"{string.Join(", ", same.Select(left => left.Mode))}: {same.Key}")],
        advice.Experiments,
        advice.Cell is { } cell ? cell.Kind.CodeOf(cell.Mode) : []);
}
