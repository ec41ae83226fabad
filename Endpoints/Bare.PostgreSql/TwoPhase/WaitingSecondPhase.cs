using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Commits each branch before the worker goes on: when it receives the next message, the rows of the last one are visible.</summary>
internal sealed partial class WaitingSecondPhase(Slots slots, ILogger log) : ISecondPhase
{
    public async ValueTask FinishAsync(PreparedBranch branch)
    {
        try
        {
            await using var commit = branch.Data.CreateCommand($"COMMIT PREPARED '{branch.Id}'");
            await commit.ExecuteNonQueryAsync();
            SecondPhaseLag.Record(branch.Decided);
            slots.Return();
        }
        catch (Exception failure)
        {
            slots.Leave(branch.Id);
            LogLeft(branch.Id.ToString(), failure.Message);
        }
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    [LoggerMessage(Level = LogLevel.Warning, Message = "Branch {Branch} is left to recovery: {Reason}")]
    private partial void LogLeft(string branch, string reason);
}
