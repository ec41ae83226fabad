using System.CommandLine;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Runner.Transports;

namespace Kit.Runner.CommandLine;

/// <summary><c>branches end</c>: commits or rolls back one prepared transaction.</summary>
internal sealed class BranchesEndCommand : KitCommand
{
    private readonly Argument<string> id = new("id") { Description = "Its name, as 'branches' shows it." };
    private readonly Option<string?> postgreSql = ServerOption.Existing(
        PostgreSqlTransport.ServerSetting, "Connection string of its server; any of its databases.");
    private readonly Option<bool> commit = new("--commit") { Description = "Commit it, where no decision is known." };
    private readonly Option<bool> rollback = new("--rollback") { Description = "Roll it back, where no decision is known." };

    public BranchesEndCommand()
        : base(
            "end",
            "Ends one prepared transaction, in its own database. A branch of a full-dtc endpoint whose decision is known is ended by it, " +
            "and never against it; one that is undecided is left. For any other say --commit or --rollback.",
            ("branches end kit/7…/16384/801 --postgresql \"Host=db1;Username=app;Password=…;Database=postgres\"", "by its decision"),
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
        await Console.Out.WriteLineAsync($"{(outcome is BranchDecision.Committed ? "Committed" : "Rolled back")}: {globalId}");
        return ExitCode.Success;
    }
}
