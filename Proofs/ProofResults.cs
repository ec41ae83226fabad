using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Proofs;

/// <summary>What a proof found.</summary>
/// <param name="Points">Each experiment that was made: a point of the handling, met in one way.</param>
/// <param name="NotTried">The tokens of the experiments that were not made, because of the budget or a choice.</param>
/// <param name="Report">The path of the report.</param>
public sealed record ProofResults(IReadOnlyList<ProvenPoint> Points, IReadOnlyList<string> NotTried, string Report)
{
    private static readonly JsonSerializerOptions Options = new(JsonSerializerDefaults.Web)
    {
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
        RespectRequiredConstructorParameters = true,
    };

    /// <summary>
    /// Requests that write an effect, and at which no crash could be tried: handlings differ in them, or an idle process makes them, too.
    /// </summary>
    public IReadOnlyList<string> Untried { get; init; } = [];

    /// <summary>
    /// Whether something was tried, the promise kept each time, and nothing is <see cref="Untried"/>. The runner's exit code says the same.
    /// </summary>
    public bool IsKept => Points.Count > 0 && !NotKept.Any();

    /// <summary>The points at which a promise was broken, or which showed nothing, and the requests that are <see cref="Untried"/>.</summary>
    public IEnumerable<ProvenPoint> NotKept => Points.Where(point => !point.IsKept).Concat(Untried.Select(ProvenPoint.OfUntried));

    /// <summary>True if another run in the same folder would try nothing.</summary>
    internal bool IsWhole => Points.Count > 0 && NotTried.Count == 0 && Points.All(point => point.Verdict is ProofVerdict.Kept or ProofVerdict.Broken);

    /// <returns><see langword="null"/> if there are none in the folder.</returns>
    /// <exception cref="ProofException">They have another form.</exception>
    internal static ProofResults? TryRead(string folder)
    {
        var path = Path.Combine(folder, "proof.json");
        if (!File.Exists(path))
            return null;

        Stored stored;
        try
        {
            stored = JsonSerializer.Deserialize<Stored>(File.ReadAllText(path), Options)!;
        }
        catch (JsonException other)
        {
            throw new ProofException(
                $"The report is of another version of the runner: {path}: {other.Message} Use the runner and the package of one version, and a new folder.",
                other);
        }

        return new ProofResults(
            [
                .. stored.Results.Select(result => new ProvenPoint(
                    result.Point.Token, result.Point.Moment, result.Verdict, result.Class, result.Violations ?? [], result.Because)),
            ],
            stored.NotTried ?? [],
            Path.Combine(folder, "proof.md"))
        {
            Untried = stored.Untried ?? [],
        };
    }

    private sealed record Stored(IReadOnlyList<StoredResult> Results, IReadOnlyList<string>? NotTried = null, IReadOnlyList<string>? Untried = null);

    private sealed record StoredResult(
        StoredPoint Point, ProofVerdict Verdict, MessageClass? Class = null, IReadOnlyList<string>? Violations = null, string? Because = null);

    private sealed record StoredPoint(string Token, string Moment);
}

/// <summary>What became of the message that met one point.</summary>
/// <param name="Token">Repeats it: <see cref="Proof.Only"/>. Of a request at which no crash could be tried, the request.</param>
/// <param name="Moment">The moment, in words.</param>
/// <param name="Verdict">Whether the promise was kept.</param>
/// <param name="Class">What the message is; <see langword="null"/>: the point was not met.</param>
/// <param name="Violations">Which promises were broken, as sentences.</param>
/// <param name="Because">Why it shows nothing; <see langword="null"/> if it shows something.</param>
public sealed record ProvenPoint(
    string Token, string Moment, ProofVerdict Verdict, MessageClass? Class, IReadOnlyList<string> Violations, string? Because)
{
    public bool IsKept => Verdict is ProofVerdict.Kept;

    internal static ProvenPoint OfUntried(string request) => new(
        request, "no crash could be tried here", ProofVerdict.Void, Class: null, [],
        "it writes an effect, and handlings differ in it, or an idle process makes it, too");

    /// <summary>For the message of an assertion.</summary>
    public override string ToString() => $"{Token}: {(Violations.Count > 0 ? string.Join("; ", Violations) : Because ?? $"{Class}")}: {Moment}";
}

/// <summary>Whether a promise was kept at a point.</summary>
public enum ProofVerdict
{
    /// <summary>It was kept.</summary>
    Kept,

    /// <summary>It was broken.</summary>
    Broken,

    /// <summary>The handlings did not come to the point: nothing is shown.</summary>
    Void,

    /// <summary>The experiment failed: nothing is shown.</summary>
    Failed,
}

/// <summary>What became of a message.</summary>
public enum MessageClass
{
    /// <summary>Each effect is there as often as the proof file expects.</summary>
    Once,

    /// <summary>All effects are there, and one of them more often.</summary>
    Duplicated,

    /// <summary>All rows are there as often as expected, and a message or a call more often.</summary>
    DuplicatedOutgoing,

    /// <summary>Some effects are there, and not the others.</summary>
    Torn,

    /// <summary>No effect is there, and nothing is left to do.</summary>
    Lost,

    /// <summary>No effect is there, and something is left to do.</summary>
    Stuck,

    /// <summary>It is a dead letter, and no effect is there.</summary>
    CleanError,

    /// <summary>It is a dead letter, and an effect is there.</summary>
    Zombie,
}
