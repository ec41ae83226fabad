using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Results.Modes;

public sealed class ModesInWords
{
    [Test]
    public void Are_as_approved()
    {
        using var output = new StringWriter { NewLine = "\n" };
        ModeText.Write(TransactionMode.All, output);

        Approval.Verify("list-modes.txt", output.ToString());
    }
}
