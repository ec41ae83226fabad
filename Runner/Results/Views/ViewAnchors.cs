namespace Kit.Runner.Results.Views;

/// <summary>The ids of the parts of a page that hold evidence.</summary>
public static class ViewAnchors
{
    /// <summary>The rounds of a cell.</summary>
    public static string Speed(string id) => $"rounds-{id}";

    /// <summary>The experiments on a cell.</summary>
    public static string Proof(string subject) => $"proof-{subject}";
}
