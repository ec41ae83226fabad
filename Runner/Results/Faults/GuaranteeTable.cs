namespace Kit.Runner.Results.Faults;

/// <summary>A table of the guarantees, with what its columns mean.</summary>
internal sealed record GuaranteeTable(
    string Title, IReadOnlyList<string> Headers, IReadOnlyList<IReadOnlyList<string>> Rows, string Legend);
