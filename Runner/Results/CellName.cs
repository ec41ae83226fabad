using System.Text.Json.Serialization;

namespace Kit.Runner.Results;

/// <summary>The four names that make a cell of the matrix.</summary>
public sealed record CellName(string Framework, string Transport, string Mode, string Access)
{
    /// <summary>What two cells must share for a comparison of their modes.</summary>
    [JsonIgnore]
    public CellGroup Group => new(Framework, Transport, Access);

    public override string ToString() => $"{Framework}/{Transport}/{Mode}/{Access}";
}

/// <summary>A cell without its mode: everything that stays the same when modes are compared.</summary>
public sealed record CellGroup(string Framework, string Transport, string Access)
{
    public override string ToString() => $"{Framework}/{Transport}/{Access}";
}

/// <summary>A cell that cannot run or was not asked for, and why.</summary>
public sealed record CellLeftOut(CellName Cell, string Because);
