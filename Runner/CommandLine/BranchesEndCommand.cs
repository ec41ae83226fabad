using System.CommandLine;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>branches end</c>: commits or rolls back one prepared transaction.</summary>
internal sealed class BranchesEndCommand : KitCommand
{
    private readonly Argument<string> id = new("id") { Description = "Its id, as 'branches' shows it." };
    private readonly Option<string?> postgreSql = ServerOption.Existing(
        PostgreSqlTransport.ServerSetting, "Connection string of its server, to any of its databases.");
    private readonly Option<bool> commit = new("--commit") { Description = "Commit it, if no decision is known." };
    private readonly Option<bool> rollback = new("--rollback") { Description = "Roll it back, if no decision is known." };

    public BranchesEndCommand()
        : base(
            "end",
            "Commits or rolls back one prepared transaction, in its own database. If the decision of a full-dtc endpoint is known, " +
            "the command follows it; if it is still open, the command refuses. In all other cases, give --commit or --rollback.",
            ("branches end kit/7…/16384/801 --postgresql \"Host=db1;Username=app;Password=…;Database=postgres\"", "as decided"),
            (
                "branches end 'other app' --rollback --postgresql \"Host=db1;Username=postgres;Password=…;Database=postgres\"",
                "a foreign one"))
    {
        Arguments.Add(id);
        foreach (var option in new Option[] { postgreSql, commit, rollback })
            Options.Add(option);
        Validators.Add(result =>
        {
            BranchesCommand.RequireServer(result, postgreSql);
            if (result.GetValue(commit) && result.GetValue(rollback))
                result.AddError("--commit, --rollback: expected at most one of them.");
        });
        SetAction(EndAsync);
    }

    private async Task<int> EndAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var globalId = parsed.GetRequiredValue(id);
        BranchDecision? asked = parsed.GetValue(commit) ? BranchDecision.Committed
            : parsed.GetValue(rollback) ? BranchDecision.Aborted
            : null;
        var outcome = await BranchesCommand.OnServerAsync(
            parsed.GetValue(postgreSql)!, prepared => prepared.EndAsync(globalId, asked, cancellationToken));
        await parsed.InvocationConfiguration.Output.WriteLineAsync($"{(outcome is BranchDecision.Committed ? "Committed" : "Rolled back")}: {globalId}");
        return ExitCode.Success;
    }
}
