using System.Collections.Concurrent;
using System.Globalization;
using FsCheck;
using FsCheck.Fluent;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Prove.Crashes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Exhaustive.Faults;

/// <summary>
/// Handlers that nobody wrote, in modes that nobody chose: at every point of a drawn handler, the mode's promise holds. KIT_SHAPES draws more, or names one
/// to repeat.
/// </summary>
[Parallelizable]
public sealed class ShapesOfHandlers
{
    /// <summary>How many handlers to draw, or the name or the token of one.</summary>
    private const string Variable = "KIT_SHAPES";

    /// <summary>FsCheck accepts odd numbers only.</summary>
    private const ulong Gamma = 2026_1124_1;

    private static readonly IReadOnlyList<PointWay> Ways = [PointWay.NeverSent, PointWay.Killed];

    private static readonly IReadOnlyList<TransactionMode> Modes = [.. TransactionMode.Matrix, TransactionMode.Shared, TransactionMode.Outbox];

    private static readonly IReadOnlyList<Cell> Cells =
    [
        .. Cell.All.Where(cell => cell is { Kind.Framework: "bare", Kind.Transport: TransportName.PostgreSql, Access.Name: AccessLibrary.Baseline }
            && cell.IsPlain && Modes.Contains(cell.Mode)),
    ];

    private readonly ConcurrentQueue<FaultResult> unmet = new();
    private ServersInUse servers = null!;
    private int met;

    [OneTimeSetUp]
    public async Task StartServers()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        servers = await ServersInUse.StartAsync([Transport.Of(Cells[0])], CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServers()
    {
        if (servers is not null)
            await servers.DisposeAsync();
    }

    [Test]
    public void Keep_the_promise_of_their_mode_at_every_point()
    {
        const int few = 1;
        const ulong seed = 51;
        var wish = Environment.GetEnvironmentVariable(Variable);
        var (handlers, config) = (Handlers(), Config.QuickThrowOnFailure.WithMaxTest(few).WithReplay(new Replay(new Rnd(seed, Gamma), size: null)));
        if (int.TryParse(wish, NumberStyles.None, CultureInfo.InvariantCulture, out var many))
            config = Config.QuickThrowOnFailure.WithMaxTest(many);
        else if (wish is { Length: > 0 })
            (handlers, config) = (Gen.Constant(AnyHandler.Parse(wish)), Config.QuickThrowOnFailure.WithMaxTest(1));

        Prop.ForAll(Arb.From(handlers, handler => handler.Smaller()), handler => Keeps(handler, promise: null)).Check(config);

        foreach (var result in unmet)
            TestContext.Out.WriteLine($"{result.Name} shows nothing: {result.Because}");
        Assert.That(met, Is.Positive, "something was met");
        Assert.That(unmet, Has.Count.LessThan(Math.Max(1, met / 10)), "most points are met");
    }

    [Test]
    public void Are_shrunk_to_the_smallest_that_breaks_a_promise()
    {
        var tooStrict = new StormPromise(new HashSet<DeliveryClass> { DeliveryClass.Once }, Reach.None);
        var drawn = Arb.From(Gen.Constant(AnyHandler.Parse("bare.postgresql.dtc-off+2i1s")), handler => handler.Smaller());

        Assert.That(
            () => Prop.ForAll(drawn, handler => Keeps(handler, tooStrict)).Check(Config.QuickThrowOnFailure.WithMaxTest(1)),
            Throws.Exception.With.Message.Match(
                @"(?s)Shrunk:\s+bare\.postgresql\.dtc-off\+1i0s\s+bare\.postgresql\.dtc-off\+1i0s@\d+:[ab]: COMMIT .* is duplicated"));
    }

    // A mode without a second attempt dead-letters a message whose first one throws: its handlers do not.
    private static Gen<AnyHandler> Handlers() =>
        from cell in Gen.Elements(Cells.AsEnumerable())
        from inserts in Gen.Choose(1, 3)
        from sends in Gen.Choose(0, 2)
        from throws in Gen.Elements(true, false)
        select new AnyHandler(cell, new HandlerShape(inserts, sends, throws && cell.Mode.Attempts > 1));

    /// <summary>Whether no experiment breaks the promise; <see langword="null"/>: that of the handler's mode.</summary>
    private bool Keeps(AnyHandler handler, StormPromise? promise)
    {
        TestContext.Progress.WriteLine($"{handler.Name} …");
        var results = MeetAsync(handler, promise).GetAwaiter().GetResult();
        handler.Violations = [.. results.Where(result => result.Verdict is FaultVerdict.Broken)];
        Interlocked.Add(ref met, results.Count(result => result.Verdict is FaultVerdict.Kept or FaultVerdict.Broken));
        foreach (var result in results.Where(result => result.Verdict is FaultVerdict.Void or FaultVerdict.Failed))
            unmet.Enqueue(result);
        TestContext.Progress.WriteLine($"{handler}: {results.Count} experiments");
        return handler.Violations.Count == 0;
    }

    /// <summary>Meets the points of a handler until one breaks the promise.</summary>
    private async Task<IReadOnlyList<FaultResult>> MeetAsync(AnyHandler handler, StormPromise? promise)
    {
        var every = new EveryPoint(handler.Cell, servers) { Shape = handler.Shape };
        if (promise is not null)
            every = new EveryPoint(handler.Cell, servers) { Shape = handler.Shape, Promise = promise };
        var experiments = PointExperiment.At(handler.Name, (await every.RecordAsync(CancellationToken.None)).Points, Ways);
        var results = new ConcurrentQueue<FaultResult>();
        using var enough = new CancellationTokenSource();
        try
        {
            await every.MakeAsync(PointOrder.Of(experiments.Where(one => handler.Only is null || $"{one.Token}" == handler.Only)), Save, enough.Token);
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
            // One broken promise is enough.
        }

        return [.. results];

        void Save(FaultResult result)
        {
            results.Enqueue(result);
            if (result.Verdict is FaultVerdict.Broken)
                enough.Cancel();
        }
    }

    /// <summary>A drawn handler, told by its name and by what broke its promise.</summary>
    private sealed class AnyHandler(Cell cell, HandlerShape shape)
    {
        public Cell Cell => cell;

        public HandlerShape Shape => shape;

        public string Name => $"{PointCells.NameOf(cell)}+{shape}";

        /// <summary>The only experiment to make; <see langword="null"/>: all.</summary>
        public string? Only { get; private init; }

        public IReadOnlyList<FaultResult> Violations { get; set; } = [];

        /// <param name="name">Its name, or the token of one of its experiments.</param>
        public static AnyHandler Parse(string name)
        {
            if (name.Split('@')[0].Split('+') is [var cell, [var inserts, 'i', var sends, 's', .. var throws]]
                && PointCells.Find(cell) is { } found && char.IsBetween(inserts, '1', '9') && char.IsAsciiDigit(sends) && throws is "" or "t")
            {
                return new AnyHandler(found, new HandlerShape(inserts - '0', sends - '0', throws is "t")) { Only = name.Contains('@') ? name : null };
            }

            throw new ArgumentException(
                $"{Variable}: '{name}' is neither a number nor a handler, as in bare.postgresql.outbox+2i1s or …+1i0st@7:b.", nameof(name));
        }

        /// <summary>The smallest first, then those with one thing less.</summary>
        public IEnumerable<AnyHandler> Smaller() =>
            new[]
            {
                new HandlerShape(1, 0, ThrowsAtFirst: false), shape with { ThrowsAtFirst = false },
                shape with { Sends = Math.Max(0, shape.Sends - 1) }, shape with { Inserts = Math.Max(1, shape.Inserts - 1) },
            }.Distinct().Where(smaller => smaller != shape).Select(smaller => new AnyHandler(cell, smaller));

        public override string ToString() => string.Join('\n', Violations.Select(broken =>
            $"{broken.Name}: {broken.Point!.Moment}: {string.Join("; ", broken.Violations.Select(violation => violation.Because))}").Prepend(Name));
    }
}
