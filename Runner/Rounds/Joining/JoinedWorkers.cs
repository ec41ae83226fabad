using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Stage;

namespace Kit.Runner.Rounds.Joining;

/// <summary>The workers of other machines in a run, as the runner sees them.</summary>
internal sealed class JoinedWorkers : IAsyncDisposable
{
    /// <summary>The end of a run that has measured all its rounds.</summary>
    public const string Completed = "completed";

    private static readonly TimeSpan ToLeave = TimeSpan.FromSeconds(5);

    private readonly WorkerNeeds needs;
    private readonly string howToJoin;
    private readonly JoiningSession session;
    private readonly Action<string> note;
    private readonly CancellationTokenSource over = new();
    private readonly ConcurrentDictionary<int, JoinedHandler> handlers = new();
    private readonly Task watching;
    private IReadOnlyList<Member> members = [];
    private bool isEnding;

    private JoinedWorkers(WorkerNeeds needs, string howToJoin, JoiningSession session, Action<string> note)
    {
        (this.needs, this.howToJoin, this.session, this.note) = (needs, howToJoin, session, note);
        watching = WatchAsync();
    }

    /// <summary>The text for the workers when the run ends.</summary>
    public string Ending { get; set; } = "stopped";

    /// <summary>Every worker that has joined, in that order.</summary>
    public IReadOnlyList<WorkerFacts> Facts => [.. members.Select(member => member.Facts)];

    private IReadOnlyList<Member> Present => [.. members.Where(member => member.Lost is null)];

    /// <param name="server">Connection string of the server of the widgets.</param>
    /// <param name="note">Tells the user who joins, leaves or is refused.</param>
    public static async Task<JoinedWorkers> OpenAsync(
        RunOffer offer, WorkerNeeds needs, string server, Action<string> note, CancellationToken cancellationToken) =>
        new(needs, offer.HowToJoin(server), await JoiningSession.OpenAsync(server, JoiningSession.OfRun, offer, cancellationToken), note);

    /// <summary>Waits until all workers of the run are there, for example a new one instead of one that is gone.</summary>
    /// <exception cref="KitException">They do not come in time, or the connection to them has broken.</exception>
    public async Task WaitAsync(CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        for (var told = 0; needs.Needed - Present.Count is > 0 and var missing; told = missing)
        {
            if (watching.IsFaulted)
                await watching;
            if (missing > told)
                note($"Waiting for {Number(missing)}. On another machine, with this build: {howToJoin}");
            if (watch.Elapsed > needs.Patience)
            {
                throw new KitException(
                    $"The run needs {Number(needs.Needed)}, and {Number(missing)} did not join within {Figures.Plain((int)needs.Patience.TotalSeconds)} s.",
                    "Start one with 'worker --join' on another machine; --wait gives it more time. If rounds are finished, 'run --resume' goes on.");
            }

            await Task.Delay(JoiningSession.Look / 5, cancellationToken);
        }
    }

    /// <summary>The lines of a new handler process: the workers get the processes of a round in turn.</summary>
    /// <param name="number">The number of the process in its round, from 1.</param>
    /// <param name="isTiered">True if it runs with tiered compilation.</param>
    /// <exception cref="WorkerLostException">A worker is gone.</exception>
    public JoinedHandler Handler(int number, bool isTiered)
    {
        var present = Present;
        if (present.Count < needs.Needed)
            throw members.Last(member => member.Lost is not null).Lost!;

        var worker = present[(number - 1) % needs.Needed];
        var process = handlers.Count + 1;
        var handler = new JoinedHandler(worker.Facts.Number, line => session.Say(worker.Id, new ProcessLine(process, line)), isTiered);
        handlers[process] = handler;
        if (worker.Lost is not null)
            handler.Lose(worker.Lost);
        return handler;
    }

    /// <summary>Tells the workers that the run has ended, and gives them some seconds to leave.</summary>
    public async ValueTask DisposeAsync()
    {
        isEnding = true;
        session.Say(to: null, new RunEnded(Ending));
        for (var watch = Stopwatch.StartNew(); Present.Count > 0 && watch.Elapsed < ToLeave;)
            await Task.Delay(JoiningSession.Look / 10);
        await over.CancelAsync();
        await watching.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await session.DisposeAsync();
        over.Dispose();
    }

    private static string Number(int workers) => workers == 1 ? "1 worker" : $"{Figures.Plain(workers)} workers";

    private async Task WatchAsync()
    {
        try
        {
            while (true)
            {
                if (await session.HearAsync(over.Token) is { } heard)
                    await ObeyAsync(heard.From, heard.Notice);
                else
                    LoseVanished();
            }
        }
        catch (KitException broken)
        {
            foreach (var member in Present)
                Lose(member, broken.Message);
            throw;
        }
    }

    private async Task ObeyAsync(int from, JoiningNotice notice)
    {
        switch (notice, members.FirstOrDefault(member => member.Id == from))
        {
            case (WorkerRefused refused, null):
                note(refused.Why);
                break;
            case (WorkerJoins joins, null) when !isEnding && await session.TrustsAsync(from):
                Admit(from, joins);
                break;
            case (ProcessLine line, not null):
                handlers[line.Process].Hear(line.Text);
                break;
            case (WorkerLeft left, { Lost: null } member):
                Lose(member, $"{member} {left.Why}");
                break;
            case (WorkerIsThere, { Lost: not null }):
                session.Say(from, new RunEnded(How: null));
                break;
        }
    }

    /// <summary>The worker knows its number before it gets an order.</summary>
    private void Admit(int id, WorkerJoins joins)
    {
        var worker = new WorkerFacts(members.Count + 1, joins.Host);
        var isNeeded = Present.Count < needs.Needed;
        session.Say(id, new WorkerAdmitted(isNeeded ? worker.Number : null));
        if (!isNeeded)
            return;

        note($"Worker {Figures.Plain(worker.Number)} joined: {joins.Machine}, {Figures.Plain(joins.Host.Cores)} cores, {joins.Host.CpuModel}.");
        members = [.. members, new Member(id, worker)];
    }

    private void LoseVanished()
    {
        foreach (var member in Present)
        {
            if (session.EndOf(member.Id) is { } end)
                Lose(member, $"{member} has vanished: {end}");
        }
    }

    private void Lose(Member member, string why)
    {
        member.Lost = new WorkerLostException(why);
        if (Ending is not Completed)
            note($"{char.ToUpperInvariant(why[0])}{why[1..]}.");
        foreach (var handler in handlers.Values.Where(handler => handler.Worker == member.Facts.Number))
            handler.Lose(member.Lost);
    }

    /// <param name="Id">That of its session.</param>
    private sealed record Member(int Id, WorkerFacts Facts)
    {
        public WorkerLostException? Lost { get; set; }

        public override string ToString() => $"worker {Figures.Plain(Facts.Number)}";
    }
}
