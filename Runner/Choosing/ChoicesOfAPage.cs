using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Html;
using Kit.Runner.Results.Views;

namespace Kit.Runner.Choosing;

/// <summary>The advice for every combination of answers, as a page shows it.</summary>
internal static class ChoicesOfAPage
{
    private static readonly IReadOnlyList<bool> SeesRows = [false, true];

    /// <param name="rows">The cells of the page: of a framework that this build lacks, only they tell which modes there are.</param>
    public static IReadOnlyList<Choice> For(IReadOnlyList<ViewRow> rows) =>
    [
        .. from place in NeedsInWords.Places
           from tolerance in NeedsInWords.Tolerances
           from sees in SeesRows
           let needs = new HandlerNeeds(place.Value, tolerance.Value, sees)
           select new Choice(
               AnswerOf(place), AnswerOf(tolerance), sees,
               [.. Advice.For(Cell.All, needs).Select(advice => MeasuredOf(advice, needs, rows) ?? AdviceOf(advice))]),
    ];

    private static ChoiceAnswer AnswerOf<T>(Answer<T> answer) => new(answer.Name, answer.Meaning);

    private static ChoiceAdvice AdviceOf(Advice advice) => new(
        advice.Kind.Framework, advice.Kind.Transport, AdviceText.TakeOf(advice), advice.Cell?.Mode.Name, AdviceText.ClassesOf(advice),
        [.. advice.LeftOut.GroupBy(left => left.Because).Select(same => $"{string.Join(", ", same.Select(left => left.Mode))}: {same.Key}")],
        advice.Experiments,
        advice.Cell is { } cell ? cell.Kind.CodeOf(cell.Mode) : [], advice.Name?.FileName);

    /// <summary>The best of the measured modes of a framework that this build lacks; <see langword="null"/>: it does not lack it, or none fits.</summary>
    private static ChoiceAdvice? MeasuredOf(Advice advice, HandlerNeeds needs, IReadOnlyList<ViewRow> rows) => advice.Kind.InBuild.IsSupported ? null :
    (
        from mode in ModeChoice.Of(needs)
        where advice.Transport.SupportOf(mode, needs).IsSupported
        from row in rows
        where row.Speed is not null && (row.Framework, row.Transport, row.Mode) == (advice.Kind.Framework, advice.Kind.Transport, mode.Name)
        select new ChoiceAdvice(
            row.Framework, row.Transport, $"{mode}, of the measured modes", mode.Name,
            Words.Of(FaultPromise.Always(mode, advice.Transport.IsBroker).Classes), [], [], [], row.Subject)).FirstOrDefault();
}
