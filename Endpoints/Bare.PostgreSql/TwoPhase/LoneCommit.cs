using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Commits one branch by itself, while its worker waits. A branch that it cannot commit is left to <see cref="Recovery"/>.</summary>
internal sealed partial class LoneCommit(IDecisionLog decisions, Slots slots, ILogger log)
{
    public async ValueTask ExecuteAsync(PreparedBranch branch)
    {
        try
        {
            await using var connection = await branch.Data.OpenConnectionAsync();
            await BranchEnds.ExecuteAsync(connection, [branch.Id.Commit], decisions.BeforeEnds);
            SecondPhaseLag.Record(branch.Decided);
            slots.Return(branch.Id);
        }
        catch (Exception failure)
        {
            slots.Leave(branch.Id);
            LogLeft(branch.Id.ToString(), failure.Message);
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "Branch {Branch} is left to recovery: {Reason}")]
    private partial void LogLeft(string branch, string reason);
}
