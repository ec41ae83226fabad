using Kit.Guarantees;

namespace Kit.Tests.Results.Guarantees;

public sealed class FaultsInWords
{
    /// <summary>The whole list, to be read: what the reports say of a fault.</summary>
    [Test]
    public void Are_as_approved() => Approval.Verify("faults.txt", string.Concat(Fault.All.Select(fault => $"{fault}: {fault.What}\n")));
}
