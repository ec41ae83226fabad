using System.Globalization;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Proofs;

/// <summary>One thing that happened in an experiment.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Text">It in words; of a request its statement or method.</param>
public sealed record TimelineStep(TimelineKind Kind, string Text)
{
    /// <summary>The place of a request among those of the handling, from 1.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public int? Number { get; init; }

    /// <summary>The server that was asked.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Server { get; init; }

    /// <summary>The connection of a request, in the order in which they were opened.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public int? Connection { get; init; }

    /// <summary>What the server answered to a request; <see langword="null"/> if it does not answer, or was never asked.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Outcome { get; init; }

    /// <summary>The lines of a report. Where a server was asked on several connections, they are numbered: <c>orders (2)</c>.</summary>
    public static IEnumerable<string> LinesOf(IReadOnlyList<TimelineStep> timeline)
    {
        var connections = timeline.Where(step => step.Kind is TimelineKind.Request).Select(step => (step.Server, step.Connection)).Distinct()
            .ToLookup(one => one.Server, one => one.Connection);
        return timeline.Select(step => step.LineIn([.. connections[step.Server]]));
    }

    /// <param name="connections">Those on which its server was asked.</param>
    private string LineIn(List<int?> connections)
    {
        if (Kind is not TimelineKind.Request)
            return $"     {Text}";

        var server = connections.Count > 1 ? $"{Server} ({connections.IndexOf(Connection) + 1})" : Server;
        return string.Create(CultureInfo.InvariantCulture, $"{Number,3}. {server}: {Text}{(Outcome is null ? "" : $" → {Outcome}")}");
    }
}

/// <summary>What a step of a timeline is.</summary>
public enum TimelineKind
{
    /// <summary>The message was sent.</summary>
    Message,

    /// <summary>Requests that are not told.</summary>
    LeftOut,

    /// <summary>The application asked a server. The last request is the one at the point.</summary>
    Request,

    /// <summary>What happened at the point.</summary>
    Moment,

    /// <summary>The process ended.</summary>
    Process,

    /// <summary>The process was started again.</summary>
    Restart,

    /// <summary>Ordinary messages were sent.</summary>
    Ordinary,

    /// <summary>What the application wrote about the message, before or after the moment.</summary>
    Output,

    /// <summary>What was left when nothing moved any more, or what a message before it has become.</summary>
    Left,

    /// <summary>Rows that were committed together, and that have the message's id.</summary>
    Committed,

    /// <summary>The effects that were found.</summary>
    Found,

    /// <summary>What the message is.</summary>
    Class,
}
