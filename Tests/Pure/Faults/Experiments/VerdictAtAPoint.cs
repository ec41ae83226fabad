using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Faults.Experiments;

/// <summary>The verdict where a subject came to rest, and where it did not.</summary>
public sealed class VerdictAtAPoint
{
    private const string Unsettled = "it did not settle";

    [TestCase(null, null, ExpectedResult = FaultVerdict.Kept)]
    [TestCase(null, DeliveryClass.Lost, ExpectedResult = FaultVerdict.Broken)]
    [TestCase(Unsettled, null, ExpectedResult = FaultVerdict.Void)]
    [TestCase(Unsettled, DeliveryClass.Lost, ExpectedResult = FaultVerdict.Void, Description = "It can still come.")]
    [TestCase(Unsettled, DeliveryClass.Duplicated, ExpectedResult = FaultVerdict.Broken)]
    [TestCase(Unsettled, DeliveryClass.DuplicatedOutgoing, ExpectedResult = FaultVerdict.Broken)]
    [TestCase(Unsettled, DeliveryClass.Unexpected, ExpectedResult = FaultVerdict.Broken)]
    public FaultVerdict Is_broken_by_what_stays(string? unsettled, DeliveryClass? notPromised) =>
        PointVerdict.Of(unsettled, notPromised is not null, notPromised is { } kind ? [kind] : []);
}
