using Kit.Runner.Results;

namespace Kit.Prove.Files;

/// <summary>Results are continued only with what they began with.</summary>
internal static class StoredSubject
{
    /// <param name="what">The folder and its results, as a sentence begins with them.</param>
    /// <exception cref="KitException">They are of another file, program or build of the kit.</exception>
    public static void Require(ProofFile file, string fingerprint, string what, string storedFile, string? storedProgram, string? storedFingerprint)
    {
        // Stored is a file without its passwords.
        if (file.Secrets.Mask(storedFile) != file.Secrets.Mask(file.Text))
            throw Other(what, $"another file, or of an earlier state of {file.Path}");
        if (storedProgram != file.Given)
            throw Other(what, $"another program: {storedProgram ?? "that of the file"}");
        if (storedFingerprint != fingerprint)
            throw Other(what, "another build of the kit");
    }

    /// <summary>An error about results that cannot be continued.</summary>
    public static KitException Other(string what, string of) => new($"{what} of {of}.", "Name another folder with --out.") { IsUsage = true };
}
