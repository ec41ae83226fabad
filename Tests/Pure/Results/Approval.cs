using System.Runtime.CompilerServices;

namespace Kit.Tests.Results;

/// <summary>
/// Compares output with its approved file under Tests/Approved. Set KIT_APPROVE=1 to write what was received over it, then read the
/// difference before committing it.
/// </summary>
internal static class Approval
{
    public static void Verify(string name, string received) => VerifyFile(Path.Combine(Folder(), name), received);

    /// <summary>The same for a report that is committed elsewhere.</summary>
    public static void VerifyFile(string path, string received)
    {
        if (Environment.GetEnvironmentVariable("KIT_APPROVE") is "1")
            File.WriteAllText(path, received);

        Assert.That(path, Does.Exist, "Nothing is approved yet. Run the tests once with KIT_APPROVE=1 and read what it wrote.");
        Assert.That(received, Is.EqualTo(File.ReadAllText(path)), $"Differs from {path}. Run with KIT_APPROVE=1 if the new text is right.");
    }

    private static string Folder([CallerFilePath] string thisFile = "") =>
        Path.GetFullPath(Path.Combine(Path.GetDirectoryName(thisFile)!, "..", "..", "Approved"));
}
