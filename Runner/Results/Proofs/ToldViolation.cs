using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Proofs;

/// <summary>A broken promise whose timeline a report tells and draws: one for each class.</summary>
/// <param name="Name">The message's class; that there was no crash; or that its class was promised, and something broke a promise afterwards.</param>
public sealed record ToldViolation(ProofResult Result, string Name)
{
    /// <summary>The files of all pictures, as a search pattern.</summary>
    public const string Pictures = Prefix + "*" + Suffix;

    private const string Prefix = "violation-";
    private const string Suffix = ".svg";
    private const string Afterwards = "afterwards";
    private const string WithoutCrash = "without-crash";

    /// <summary>The command to see it again.</summary>
    public string Again => Name switch
    {
        WithoutCrash => "No single crash repeats it: make the proof again, with another folder.",
        Afterwards => $"To repeat this crash: `prove … --out FOLDER --only {Result.Point.Token}`, with the folder of this report. " +
            "If a message before it has changed, no single crash repeats that: make the proof again, with another folder.",
        _ => $"To repeat it: `prove … --out FOLDER --only {Result.Point.Token}`, with the folder of this report.",
    };

    /// <summary>The file of its picture, next to the report.</summary>
    public string Picture => $"{Prefix}{Name}{Suffix}";

    /// <summary>The first violation of each class. A kill after an answer is the easiest to follow, and comes before other ways.</summary>
    public static IReadOnlyList<ToldViolation> Of(ProofDocument document) =>
    [
        .. from result in document.Results
           where result.Verdict is FaultVerdict.Broken
           orderby result.Point.Way == PointWay.Killed descending, result.Point.Number, result.Point.Way
           group result by NameOf(result, document) into alike
           select new ToldViolation(alike.First(), alike.Key),
    ];

    private static string NameOf(ProofResult result, ProofDocument document) =>
        result.IsWithoutFault ? WithoutCrash
        : document.Promised.Contains(result.Class!.Value) ? Afterwards
        : Words.Of(result.Class.Value);
}
