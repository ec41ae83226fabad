using Kit.Endpoints.Cells;
using Kit.Runner.Servers;

namespace Kit.Runner.Stage.Transports;

/// <summary>Something that cells need and their server lacks.</summary>
/// <param name="Problem">With what was expected and what was found.</param>
/// <param name="Concerns">True for a cell that needs it.</param>
internal sealed record Lack(string Problem, string Remedy, Func<Cell, bool> Concerns)
{
    /// <summary>The reason why a cell is left out, without a full stop.</summary>
    public string Because => $"{Problem} {Remedy}".TrimEnd('.');

    /// <summary>The fatal findings among those of a server, each a lack of every cell.</summary>
    public static IEnumerable<Lack> OfEveryCell(IEnumerable<Finding> findings) => Of(findings, _ => true);

    /// <summary>The fatal findings among those of a server, each a lack of some cells.</summary>
    public static IEnumerable<Lack> Of(IEnumerable<Finding> findings, Func<Cell, bool> concerns) =>
        from finding in findings
        where finding is { IsFatal: true, Problem: not null, Remedy: not null }
        select new Lack(finding.Problem!, finding.Remedy!, concerns);

    /// <summary>
    /// The findings of a server that only its own cells need, for <c>doctor</c>. None is fatal: a run leaves those cells out and measures
    /// the others.
    /// </summary>
    public static IEnumerable<Finding> NoneFatal(IEnumerable<Finding> findings) => findings.Select(finding => finding with { IsFatal = false });
}
