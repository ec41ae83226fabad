namespace Kit.Runner.Html;

/// <summary>Files in the assembly.</summary>
internal static class Embedded
{
    public static string Style => Text("page.css");

    public static string Script => Text("page.js");

    public static string Claims => Text("claims.json");

    public static string Measuring => Text("measuring.md");

    private static string Text(string name)
    {
        using var stream = typeof(Embedded).Assembly.GetManifestResourceStream(name)
            ?? throw new InvalidOperationException($"The assembly has no file {name}.");
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd().ReplaceLineEndings("\n");
    }
}
