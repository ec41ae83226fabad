using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Proofs;

/// <summary>The document about the crash points of one application: the file <c>proof.json</c>.</summary>
public sealed record ProofDocument
{
    public int Schema { get; init; } = ResultJson.Schema;

    /// <summary>The application's name.</summary>
    public required string Name { get; init; }

    public required DateTimeOffset StartedUtc { get; init; }

    /// <summary>The fingerprint of the kit's assemblies, as <see cref="BuildFacts.Fingerprint"/>; <see langword="null"/>: it was not stored yet.</summary>
    [JsonInclude]
    public string? Fingerprint { get; init; }

    /// <summary>The proof file, as it was read.</summary>
    public required string ProofFile { get; init; }

    /// <summary>The program that was started instead of the one in the file; absent if none was.</summary>
    public string? Given { get; init; }

    /// <summary>The fingerprint of the files that the commands of the proof file name.</summary>
    public string? Service { get; init; }

    /// <summary>The classes that the file promises.</summary>
    public required IReadOnlyList<DeliveryClass> Promised { get; init; }

    /// <summary>The length of a lease in the words of the file; absent if it names none.</summary>
    public string? Lease { get; init; }

    /// <summary>The versions of the kit's servers.</summary>
    public IReadOnlyDictionary<string, string> Servers { get; init; } = new Dictionary<string, string>();

    /// <summary>The differences of the servers on which the rest would be tried, in words.</summary>
    public IEnumerable<string> DifferencesFrom(IReadOnlyDictionary<string, string> servers) => RunDifferences.Between(Servers, servers);

    /// <summary>The points of an undisturbed handling.</summary>
    public IReadOnlyList<CrashPoint> Points { get; init; } = [];

    /// <summary>Requests during a handling that are no points, because the application makes them without a message, too.</summary>
    public IReadOnlyList<string> Polls { get; init; } = [];

    /// <summary>Requests in which the recorded handlings differ. They are no points.</summary>
    public IReadOnlyList<string> Rare { get; init; } = [];

    /// <summary>Requests that the application made once, after its messages had been handled. They are no points.</summary>
    public IReadOnlyList<string> Late { get; init; } = [];

    /// <summary>Recorded handlings that were in the open transaction of a poll, and were not used.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public int Unused { get; init; }

    /// <summary>Requests that write to tables that no effect reads: duplicates there are not seen.</summary>
    public IReadOnlyList<string> Unread { get; init; } = [];

    /// <summary>Requests that write an effect, and at which no crash is tried: handlings differ in them, or an idle process makes them, too.</summary>
    public IReadOnlyList<string> Untried { get; init; } = [];

    public IReadOnlyList<ProofResult> Results { get; init; } = [];

    /// <summary>The tokens of all experiments that were not made, because of a budget, a choice or a stop.</summary>
    public IReadOnlyList<string> NotTried { get; init; } = [];

    /// <summary>The reason why some were not made; <see langword="null"/>: all were.</summary>
    [JsonInclude]
    public string? NotTriedBecause { get; init; }

    /// <summary>True if the promise was kept at each tried point, at least one was tried, and the requests that write an effect can be tried.</summary>
    public bool IsKept => Results.Count > 0 && Untried.Count == 0 && Results.All(result => result.Verdict is FaultVerdict.Kept);

    /// <summary>The number of all experiments.</summary>
    [JsonInclude]
    public int Planned => Points.Sum(point => point.Ways.Count);
}
