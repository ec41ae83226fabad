using System.CommandLine;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Handlings;
using Kit.Prove.Service;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary><c>check</c>: shows what the kit sees of undisturbed handlings. Nothing is crashed.</summary>
internal sealed class CheckCommand : ProofCommand
{
    private readonly Option<string?> picture = new("--picture")
    {
        Description = "Also draw the handling as SVG: what commits together, and where it would be crashed.",
        HelpName = "file",
    };

    public CheckCommand()
        : base(
            "check",
            "Shows if a proof file fits its application, and what the kit sees of it: sends a few messages, disturbs nothing, and lists the requests of " +
            "one handling. Exit code 1 if a request that writes an effect could not be crashed, 2 if the file does not fit.",
            ($"check orders{ProofFile.Suffix}", "does the file fit, and what would be crashed?"))
    {
        picture.NotEmpty();
        foreach (var option in ServerOptions.Refused.Prepend(picture))
            Options.Add(option);
    }

    protected override async Task<int> RunAsync(ProofFile file, TextWriter console, ParseResult parsed, CancellationToken cancellationToken)
    {
        foreach (var line in CommandsOf.Lines(file))
            await console.WriteLineAsync(line);
        await using var servers = await ProofServers.StartAsync(file.WithCommits, cancellationToken);
        var document = await new Recording(file, servers, console.WriteLine).MakeAsync(
            new ProofDocument { Name = file.Name, StartedUtc = DateTimeOffset.UtcNow, ProofFile = file.Text, Promised = [.. file.Promised] },
            new ProofJudge(file).ExperimentsOn(servers), cancellationToken);

        await console.WriteLineAsync($"\n{file.Name} fits its file. One message leaves behind: {EffectsOf(file)}. One handling:");
        foreach (var point in document.Points)
        {
            var outcome = point.Request.Outcome is { } answer ? $" → {answer}" : "";
            await console.WriteLineAsync(
                $"{point.Number,4}. {Handling.NameOf(point.Request.Server, point.Request.Text)}{outcome}");
        }

        if (parsed.GetValue(picture) is { } svg && HandlingDrawing.Of(document) is { } drawing)
            WholeFile.Write(svg, drawing.Write);
        await console.WriteLineAsync($"\n{PointsByServer.Of(document.Points)}");
        foreach (var line in (await Observation.LookAsync(file, servers, cancellationToken)).Lines)
            await console.WriteLineAsync(line);
        await console.WriteLineAsync(
            $"Flushes, log bytes and waits of one message are less than what the server does on its own: '{Verbs.TypedAfter} drain' measures many.\n");
        foreach (var line in Recording.LinesOf(document))
            await console.WriteLineAsync(line);
        await console.WriteLineAsync($"Promised is {NamedPromises.TextOf(file.Promised)}. To crash it: {Verbs.TypedAfter} {Again(file)}");
        return document.Untried.Count == 0 ? ExitCode.Success : ExitCode.Failure;
    }

    private static string EffectsOf(ProofFile file) =>
        string.Join(", ", file.Effects.Where(effect => !effect.IsDeadLetter).Select(effect => $"{effect.Name} × {effect.PerMessage}"));
}
