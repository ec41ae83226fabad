using System.Diagnostics;
using Kit.Prove.Files;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Wire;

namespace Kit.Prove.Service;

/// <summary>
/// One undisturbed message, before any fault. It shows if the file fits the application; every mismatch is an error that says so.
/// </summary>
/// <param name="say">Receives a line if the message is not handled soon, or work stays.</param>
internal sealed class Trial(ProofFile file, ProofServers servers, Action<string> say)
{
    /// <summary>Time for an application to start and to handle a message, and then to become idle.</summary>
    private readonly TimeSpan patience = Settling.ToStart;

    /// <summary>After that it says what it waits for.</summary>
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(10);

    private bool isHandled;

    private static readonly TimeSpan ToBeRead = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <summary>A trial with another limit than a minute, for an application that handles nothing.</summary>
    public Trial(ProofFile file, ProofServers servers, Action<string> say, TimeSpan patience)
        : this(file, servers, say) => this.patience = patience;

    /// <summary>Time for which an application runs before the first message; it must leave no effect.</summary>
    public TimeSpan Before { get; init; } = TimeSpan.FromSeconds(3);

    /// <summary>The publishes of the handled message's effects, as requests in a list.</summary>
    public IReadOnlyCollection<string> Publishes { get; private set; } = [];

    /// <exception cref="KitException">
    /// The application does not start, has effects before the message, does not handle it once, does not become idle, or goes around the proxies; or a
    /// statement of the file fails, or the proxy could not read what the application said.
    /// </exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        var gate = new RequestGate();
        await using var application = await Application.OpenAsync(file, servers, gate, cancellationToken);
        await application.Effects.ReadAsync(cancellationToken);
        await application.Effects.ReadLeftAsync(cancellationToken);
        await application.StartAsync(cancellationToken);
        try
        {
            await SeeNothingAsync(application, cancellationToken);
            var message = Guid.CreateVersion7();
            await WhileItRunsAsync(application, application.SendAsync([message], cancellationToken), cancellationToken);
            await SeeHandledAsync(application, gate, message, cancellationToken);
            isHandled = true;
            await SeeIdleAsync(application, message, cancellationToken);
            await SeeOnceAsync(application, message, cancellationToken);
            // Nothing is leased now. A wrong statement would be found only after the first crash.
            await application.LetTimePassAsync(cancellationToken);
            await SeeOnceAsync(application, message, cancellationToken);
            Publishes = [.. application.Effects.Publishes];
        }
        catch (KitException wrong) when (gate.Unreadable.Except(gate.Asked).FirstOrDefault() is { } encrypted)
        {
            throw Wrong(
                $"the application wants to encrypt its connection to '{encrypted}', and the proxy reads no encrypted traffic: it answers no. {wrong.Message}",
                "Switch TLS off in its settings for this proof: SSL Mode=Disable, sslmode=disable, or amqp:// instead of amqps://. " + wrong.Remedy);
        }
        catch (KitException)
        {
            // The proxy has cut a connection that it could not read: whatever went wrong then can come from that.
            gate.ThrowIfFailed();
            throw;
        }

        gate.ThrowIfFailed();

        if (UnaskedOf(application, gate).FirstOrDefault() is { } unused)
        {
            throw Wrong(
                $"the message was handled, but no request to '{unused}' passed through the proxy",
                "The application has another address from somewhere else, such as its own settings file. Give it that of the placeholder.");
        }

        await SeeNothingSentAloneAsync(application, cancellationToken);
    }

    /// <summary>The servers whose addresses the application was given, and that got no request from it.</summary>
    private IEnumerable<string> UnaskedOf(Application application, RequestGate gate) =>
        application.Bed.ProxiedServers.Where(server => !gate.Asked.Contains(server) && IsGiven(server));

    /// <summary>True if the application was given the server's address.</summary>
    private bool IsGiven(string server)
    {
        var name = server == Placeholders.Broker ? server : $"{Placeholders.PostgreSql}:{server}";
        return file.Start.Command.Concat(file.Start.Environment.Values).Any(text => Placeholders.NameServer(text, name));
    }

    private async Task SeeNothingAsync(Application application, CancellationToken cancellationToken)
    {
        await WhileItRunsAsync(application, Task.Delay(Before, cancellationToken), cancellationToken);
        foreach (var (effect, found) in await application.Effects.ReadAsync(cancellationToken))
        {
            if (found.Count > 0 && !found.Any(text => ProofAccount.IdsIn(text).Any()))
            {
                throw Wrong(
                    $"effect '{effect}' found {Figures.Count(found.Count, "entry", "entries")} without an id before any message was sent. " +
                    $"The first: {Shortened(found[0])}",
                    "The first column of an effect must have the id of its message, such as SELECT id FROM …");
            }

            if (found.Count > 0)
            {
                throw Wrong(
                    $"effect '{effect}' was there {Figures.Count(found.Count, "time")} before any message was sent. The first: {Shortened(found[0])}",
                    "Let the application start without work of its own, or let the statement leave out what was there before.");
            }
        }
    }

    private async Task SeeHandledAsync(Application application, RequestGate gate, Guid message, CancellationToken cancellationToken)
    {
        var isTold = false;
        for (var watch = Stopwatch.StartNew(); ; await Task.Delay(Pause, cancellationToken))
        {
            ThrowIfEnded(application);
            var found = await application.Effects.ReadAsync(cancellationToken);
            var counts = CountsOf(found, message);
            ThrowIfGivenUp(application, message, counts);
            if (counts.All(count => count.Found >= count.Effect.PerMessage))
                return;
            if (watch.Elapsed < patience && (isTold || watch.Elapsed < Long))
                continue;

            IReadOnlyList<string> missing =
            [
                .. UnaskedOf(application, gate).Select(server => $"no request to '{server}' has passed through the proxy"),
                .. application.Effects.Missing.Concat([.. found.Select(effect => OthersIn(effect, message)), application.Refused]).OfType<string>(),
            ];
            if (watch.Elapsed < patience)
            {
                say($"After {Long.TotalSeconds} s: {string.Join("; ", missing.Prepend(TextOf(counts)))}. It has {patience.TotalSeconds} s …");
                isTold = true;
                continue;
            }

            throw Wrong(
                (counts.All(count => count.Found == 0)
                    ? $"within {patience.TotalSeconds} s the application handled nothing: no effect of the first message, {message}, is there"
                    : $"within {patience.TotalSeconds} s the first message, {message}, left behind {TextOf(counts)}")
                + string.Concat(missing.Select(why => $". And {why}")),
                $"Check how the message is sent, and that the effects return its id in their first column. {application.Process.LastOutput}");
        }
    }

    /// <summary>A text that says that an effect exists, and not of this message; <see langword="null"/>: it does not exist, or is of this message.</summary>
    private static string? OthersIn(KeyValuePair<string, IReadOnlyList<string>> effect, Guid message) =>
        effect.Value.Count > 0 && !effect.Value.Any(text => ProofAccount.Names(text, message))
            ? $"effect '{effect.Key}' has {Figures.Count(effect.Value.Count, "entry", "entries")} without that id; the first: {Shortened(effect.Value[0])}"
            : null;

    private async Task SeeIdleAsync(Application application, Guid message, CancellationToken cancellationToken)
    {
        var isTold = false;
        for (var watch = Stopwatch.StartNew(); ; await Task.Delay(Pause, cancellationToken))
        {
            ThrowIfEnded(application);
            if (await application.ReadLeftAsync(cancellationToken) is not [var left, ..])
                break;
            if (!isTold && watch.Elapsed > Long)
            {
                say($"The first message is handled. After {Long.TotalSeconds} s this is left: {left}. It has {patience.TotalSeconds} s …");
                isTold = true;
            }

            if (watch.Elapsed > patience)
            {
                var held = await application.ReadHeldAsync([message], cancellationToken);
                throw Wrong(
                    $"{patience.TotalSeconds} s after its first message was handled, the application was not idle: {string.Join("; ", held.Prepend(left))}",
                    "Correct 'idle': it counts what is left to do, and is 0 when there is nothing.");
            }
        }

        if (application.Effects.Missing.FirstOrDefault() is { } missing)
            throw Wrong($"the message was handled, and {missing}", "Correct the statement.");
    }

    private async Task SeeOnceAsync(Application application, Guid message, CancellationToken cancellationToken)
    {
        await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        var found = await application.Effects.ReadAsync(cancellationToken);
        foreach (var (effect, texts) in found)
        {
            if (texts.FirstOrDefault(text => !ProofAccount.Names(text, message)) is { } other)
            {
                throw Wrong(
                    $"effect '{effect}' has something else than the id of the only message, {message}: {Shortened(other)}",
                    "Its first column, or its message, must have the id that was sent.");
            }
        }

        var counts = CountsOf(found, message);
        ThrowIfGivenUp(application, message, counts);
        if (counts.Any(count => count.Found != count.Effect.PerMessage))
            throw Wrong($"an undisturbed message left behind {TextOf(counts)}", "Correct 'perMessage', or the statement.");
    }

    /// <summary>
    /// Checks that sending alone makes no effect: such an effect would exist whatever the application does. An HTTP request is answered by the application,
    /// which alone can make its effects.
    /// </summary>
    private async Task SeeNothingSentAloneAsync(Application application, CancellationToken cancellationToken)
    {
        if (file.Send is SendByHttp)
            return;

        await application.KillAsync();
        var message = Guid.CreateVersion7();
        await application.TrySendAsync(message, cancellationToken);
        await Task.Delay(ToBeRead, cancellationToken);
        var found = await application.Effects.ReadAsync(cancellationToken);
        if (CountsOf(found, message).FirstOrDefault(count => count.Found > 0) is { Effect: { } effect })
        {
            throw Wrong(
                $"effect '{effect.Name}' of a message was there though the application did not run: 'send' makes it, so the proof could not fail",
                "Let the effect read what the application writes.");
        }
    }

    private void ThrowIfGivenUp(Application application, Guid message, IEnumerable<(Effect Effect, int Found)> counts)
    {
        if (counts.FirstOrDefault(count => count.Effect.IsDeadLetter && count.Found > 0) is { Effect: { } deadLetter })
        {
            throw Wrong(
                $"the application gave up the first message, {message}, although nothing disturbed it: it is a dead letter, '{deadLetter.Name}'",
                $"Check how the message is sent. {application.Process.LastOutput}");
        }
    }

    private List<(Effect Effect, int Found)> CountsOf(IReadOnlyDictionary<string, IReadOnlyList<string>> found, Guid message) =>
        [.. file.Effects.Select(effect => (effect, found[effect.Name].Count(text => ProofAccount.Names(text, message))))];

    private static string TextOf(IEnumerable<(Effect Effect, int Found)> counts) => string.Join(
        ", ",
        from count in counts
        where !count.Effect.IsDeadLetter
        select $"{count.Found} of {count.Effect.PerMessage} for effect '{count.Effect.Name}'");

    /// <summary>Waits, unless the application ends.</summary>
    private async Task WhileItRunsAsync(Application application, Task awaited, CancellationToken cancellationToken)
    {
        while (!awaited.IsCompleted)
        {
            ThrowIfEnded(application);
            await Task.WhenAny(awaited, Task.Delay(Pause, cancellationToken));
        }

        await awaited;
    }

    private void ThrowIfEnded(Application application)
    {
        if (application.Process is not { HasEnded: true } ended)
            return;

        throw Wrong(
            $"the application ended with exit code {ended.ExitCode} " +
            (isHandled ? "after it had handled its first message" : "before it had handled a message"),
            $"It must run until the kit kills it: check 'start', and try its command by hand. {ended.LastOutput}");
    }

    private static string Shortened(string text) => text.Length > 100 ? $"{text[..100]} …" : text;

    private KitException Wrong(string what, string remedy) => new($"{file.Path}: {what.TrimEnd('.')}.", remedy) { IsUsage = true };
}
