namespace Kit.Runner.Results.Faults;

/// <summary>A table of the guarantees, with the meaning of its columns.</summary>
internal sealed record GuaranteeTable(
    string Title, IReadOnlyList<string> Headers, IReadOnlyList<IReadOnlyList<string>> Rows, string Legend);
