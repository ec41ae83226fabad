using System.Globalization;

namespace Kit.Runner.Results.Proofs;

/// <summary>An event in an experiment.</summary>
/// <param name="Text">In words; of a request its statement or method.</param>
public sealed record TimelineStep(TimelineKind Kind, string Text)
{
    /// <summary>The place of a request among those of the handling, from 1.</summary>
    public int? Number { get; init; }

    /// <summary>The server of the request.</summary>
    public string? Server { get; init; }

    /// <summary>The connection of a request, in the order in which they were opened.</summary>
    public int? Connection { get; init; }

    /// <summary>The server's answer to a request; <see langword="null"/> if it does not answer, or never got the request.</summary>
    public string? Outcome { get; init; }

    /// <summary>The lines of a report. Where a server got requests on several connections, they are numbered: <c>orders (2)</c>.</summary>
    public static IEnumerable<string> LinesOf(IReadOnlyList<TimelineStep> timeline)
    {
        var connections = timeline.Where(step => step.Kind is TimelineKind.Request).Select(step => (step.Server, step.Connection)).Distinct()
            .ToLookup(one => one.Server, one => one.Connection);
        return timeline.Select(step => step.LineIn([.. connections[step.Server]]));
    }

    /// <param name="connections">Connections on which its server got requests.</param>
    private string LineIn(List<int?> connections)
    {
        if (Kind is not TimelineKind.Request)
            return $"     {Text}";

        var server = connections.Count > 1 ? $"{Server} ({connections.IndexOf(Connection) + 1})" : Server;
        return string.Create(CultureInfo.InvariantCulture, $"{Number,3}. {server}: {Text}{(Outcome is null ? "" : $" → {Outcome}")}");
    }
}

/// <summary>The kind of a timeline's step.</summary>
public enum TimelineKind
{
    /// <summary>The message was sent.</summary>
    Message,

    /// <summary>Requests that are not told.</summary>
    LeftOut,

    /// <summary>The application asked a server. The last request is the one at the point.</summary>
    Request,

    /// <summary>The event at the point.</summary>
    Moment,

    /// <summary>The process ended.</summary>
    Process,

    /// <summary>The process was started again.</summary>
    Restart,

    /// <summary>Ordinary messages were sent.</summary>
    Ordinary,

    /// <summary>Lines that the application wrote about the message, before or after the moment.</summary>
    Output,

    /// <summary>Work that was left when nothing moved any more, or the new class of an earlier message.</summary>
    Left,

    /// <summary>Rows that were committed together, and that have the message's id.</summary>
    Committed,

    /// <summary>The effects that were found.</summary>
    Found,

    /// <summary>The class of the message.</summary>
    Class,
}
