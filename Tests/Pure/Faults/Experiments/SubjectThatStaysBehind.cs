using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Wire;

namespace Kit.Tests.Faults.Experiments;

/// <summary>A service or a cell was judged, and what it leaves behind cannot be removed.</summary>
public sealed class SubjectThatStaysBehind
{
    private const string Because = "Response status code does not indicate success: 500";

    private static readonly FaultResult Judged = new()
    {
        Cell = new CellName(("framework", "bare"), ("transport", "postgresql"), ("mode", "dtc-off")),
        Fault = "poison",
        Verdict = FaultVerdict.Broken,
        Fired = ["it fired"],
        Observed = [new Observation(DeliveryClass.Lost, 1)],
        ViolationCount = 1,
    };

    [Test]
    public void Has_broken_its_promise_all_the_same()
    {
        var point = new CrashPoint(1, new RequestId("orders", "COMMIT", "COMMIT", 1, 1), Before: null, HasAnswer: true, CanBeProved: true);
        var waiting = new Queue<PointExperiment>([PointExperiment.At("orders", [point]).First()]);
        var promises = new PointPromises<object>(PointVerdict.PromisedUndisturbed, _ => null, _ => false);
        var experiments = new PointExperiments<object>(promises, (_, _) => Task.FromResult<ISubject<object>>(new Stuck()));
        List<ProofResult> saved = [];

        Assert.That(
            async () => await experiments.MakeAsync(
                atOnce: 1,
                () => waiting.TryDequeue(out var next) ? next : null,
                (experiment, _) => new ProofResult { Point = experiment.Facts(), Verdict = FaultVerdict.Broken },
                saved.Add,
                CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.EqualTo(Because));
        Assert.That(saved.Select(result => result.Verdict), Is.EqualTo(new[] { FaultVerdict.Broken }));
    }

    [Test]
    public void Is_reported_with_what_it_has_broken()
    {
        var reported = Judged.FailedAfterwards(Because);

        Assert.That(reported with { Fired = Judged.Fired }, Is.EqualTo(Judged));
        Assert.That(reported.Fired, Is.EqualTo(new[] { "it fired", Because }));
    }

    [TestCase(FaultVerdict.Kept)]
    [TestCase(FaultVerdict.Void)]
    [TestCase(FaultVerdict.Failed)]
    public void Has_failed_if_it_has_broken_nothing(FaultVerdict verdict)
    {
        var reported = (Judged with { Verdict = verdict, ViolationCount = 0 }).FailedAfterwards(Because);

        Assert.That((reported.Name, reported.Verdict, reported.Because), Is.EqualTo((Judged.Name, FaultVerdict.Failed, Because)));
        Assert.That(reported.Observed, Is.Empty);
    }

    /// <summary>A subject that does nothing, and cannot be disposed of.</summary>
    private sealed class Stuck : ISubject<object>
    {
        public IReadOnlyCollection<FaultProxy> Proxies => [];

        public bool IsRunning => false;

        public string Remedy => "";

        public Task StartAsync(CancellationToken cancellationToken) => throw new KitException("It does not start.", "");

        public Task<int> KillAsync() => throw new NotSupportedException();

        public void ThrowIfBroken()
        {
        }

        public IReadOnlyList<OwnEnd> TakeOwnEnds() => [];

        public Task WatchAsync(TimeSpan time, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task SendAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task<Settlement> SettleAsync(IReadOnlyList<Guid> messages, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken) =>
            throw new NotSupportedException();

        public Task<Recovery> RecoveryAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task<object> AccountAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public ValueTask DisposeAsync() => throw new KitException(Because, "");
    }
}
