using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;

namespace Kit.Prove.Crashes;

/// <summary>
/// The undisturbed handlings before any crash: one message, which shows if the file fits the application, and three whose requests are recorded.
/// </summary>
/// <param name="say">Receives a line about each step.</param>
internal sealed class Recording(ProofFile file, ProofServers servers, Action<string> say)
{
    /// <returns>The document with what was recorded.</returns>
    /// <exception cref="KitException">The file does not fit the application.</exception>
    public async Task<ProofDocument> MakeAsync(ProofDocument document, PointExperiments<ProofAccount> experiments, CancellationToken cancellationToken)
    {
        say("One undisturbed message …");
        var trial = new Trial(file, servers, say);
        await trial.RunAsync(cancellationToken);
        say("It was handled once. The requests of three more handlings …");
        var recorded = await experiments.RecordAsync(cancellationToken);
        if (recorded.Points.Count == 0 && recorded.Polls.Where(WrittenTables.CanHideAWrite).ToList() is { Count: > 0 } alike)
        {
            throw new KitException(
                $"{file.Path}: the messages were handled, and their requests cannot be told from those of a poll that finds nothing: " +
                $"{string.Join(", ", alike)}.",
                "Let a poll that finds nothing have another answer, such as no row.")
            { IsUsage = true };
        }

        if (recorded.Points.Count == 0)
        {
            throw new KitException(
                $"{file.Path}: the messages were handled, but no request of their handling passed through the proxy.",
                "Give the application the addresses of the placeholders.")
            { IsUsage = true };
        }

        ThrowIfAround(recorded);
        IReadOnlyList<string> tried = [.. recorded.Points.Select(point => Handling.NameOf(point.Request.Server, point.Request.Text))];
        IReadOnlyList<string> others = [.. recorded.Rare, .. recorded.Late];
        List<string> untried = [.. others.Concat(recorded.Polls).Except(tried)];
        return document with
        {
            Points = recorded.Points,
            Polls = recorded.Polls,
            Rare = recorded.Rare,
            Late = recorded.Late,
            Unused = recorded.Unused,
            Servers = servers.Versions,
            Unread = [.. WrittenTables.UnreadIn(tried.Concat(others), file.Reads, file.Counts)],
            // A request that an idle process makes, too, can still be one of the handling.
            Untried =
            [
                .. trial.Publishes.Except(tried),
                .. WrittenTables.ReadIn(untried, file.Reads),
                .. WrittenTables.HiddenIn(tried, untried, file.Effects.OfType<RowEffect>().Where(effect => !effect.IsDeadLetter)),
            ],
        };
    }

    /// <summary>Lines about what was recorded.</summary>
    public static IEnumerable<string> LinesOf(ProofDocument document)
    {
        yield return string.Join(
            "; ",
            RecordedPoints.NotTried(document.Rare, document.Late, document.Unused)
                .Prepend($"{document.Points.Count} points, {document.Planned} experiments"));
        if (document.Unread.Count > 0)
        {
            yield return "No effect reads the tables that these write, so nobody sees what is doubled or missing there: " +
                string.Join(", ", document.Unread);
        }

        if (document.Polls.Count > 0)
            yield return $"Not tried, because it is done without a message, too: {string.Join(", ", document.Polls)}";
        if (document.Untried.Count > 0)
        {
            yield return "These write an effect, or can in a function, and no crash is tried there, so nothing is proved: " +
                string.Join(", ", document.Untried);
        }
    }

    /// <summary>An application can ask the servers of the placeholders something, and handle its messages on other connections.</summary>
    private void ThrowIfAround(RecordedPoints recorded)
    {
        IReadOnlyList<string> others = [.. recorded.Polls, .. recorded.Rare, .. recorded.Late];
        foreach (var effect in file.Effects.Where(effect => !effect.IsDeadLetter))
        {
            if (effect.Server is not { } server
                || recorded.Points.Any(point => point.Request.Server == server)
                || others.Any(request => Handling.IsTo(request, server)))
            {
                continue;
            }

            throw new KitException(
                $"{file.Path}: the messages were handled, and no request of their handling to '{server}', where effect '{effect.Name}' is, " +
                "passed through the proxy.",
                "Give the application the addresses of the placeholders, and let it use no others.")
            { IsUsage = true };
        }
    }
}
