using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;
using Npgsql;

namespace Kit.Runner.CommandLine;

/// <summary><c>branches</c>: the prepared transactions of a server.</summary>
internal sealed class BranchesCommand : KitCommand
{
    private readonly Option<string?> postgreSql =
        ServerOption.Existing(PostgreSqlTransport.ServerSetting, "Connection string of a PostgreSQL server, to any of its databases.");

    private readonly Option<bool> json = new("--json") { Description = "As JSON." };

    public BranchesCommand()
        : base(
            "branches",
            "Lists the prepared transactions in all databases of your PostgreSQL server: age, decision, locked tables, owner. " +
            "Each holds its locks until it is committed or rolled back. A full-dtc endpoint ends those of its own queue within seconds.",
            ("branches --postgresql \"Host=db1;Username=app;Password=…;Database=postgres\"", "the prepared transactions there, and their owners"),
            (
                "branches end kit/7…/16384/801 --postgresql \"Host=db1;Username=app;Password=…;Database=postgres\"",
                "commits or rolls back one, as decided"))
    {
        Options.Add(postgreSql);
        Options.Add(json);
        Validators.Add(result => RequireServer(result, postgreSql));
        Subcommands.Add(new BranchesEndCommand());
        SetAction(ListAsync);
    }

    internal static void RequireServer(System.CommandLine.Parsing.CommandResult result, Option<string?> server)
    {
        if (result.GetResult(server) is null)
            result.AddError($"{server.Name}: missing; give the server's connection string.");
    }

    /// <summary>Does the work, and explains a refusal of the server.</summary>
    internal static async Task<T> OnServerAsync<T>(string connectionString, Func<PreparedTransactions, Task<T>> work)
    {
        var settings = PostgreSqlFacts.Parse(connectionString);
        try
        {
            return await work(new PreparedTransactions(settings.ConnectionString));
        }
        catch (BranchRefusedException refused)
        {
            throw new KitException(refused.Message, refused.Remedy, refused);
        }
        catch (NpgsqlException failure)
        {
            throw PostgreSqlFacts.Explain(failure, PostgreSqlFacts.AddressOf(settings));
        }
    }

    private async Task<int> ListAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var branches = await OnServerAsync(parsed.GetValue(postgreSql)!, prepared => prepared.ReadAsync(cancellationToken));
        var output = parsed.InvocationConfiguration.Output;
        if (parsed.GetValue(json))
            await output.WriteLineAsync(JsonSerializer.Serialize(branches, ResultJson.Options));
        else
            Write(branches, output);

        return ExitCode.Success;
    }

    internal static void Write(IReadOnlyList<PreparedTransaction> branches, TextWriter output)
    {
        PlainColumns.Write(
            ["id", "database", "role", "age", "owner", "decision", "locked tables"],
            [
                .. branches.Select(branch => (IReadOnlyList<string>)
                [
                    branch.GlobalId,
                    branch.Database,
                    branch.Role ?? "(dropped)",
                    AgeOf(branch.Age),
                    OwnerOf(branch),
                    DecisionOf(branch),
                    branch.LockedTables.Count > 0 ? string.Join(", ", branch.LockedTables) : "none",
                ]),
            ],
            output);
        output.WriteLine(branches.Count == 0
            ? "No prepared transactions on this server."
            : $"Prepared transactions: {Figures.Count(branches.Count)}. To end one: branches end <id>.");
    }

    private static string AgeOf(TimeSpan age) => age < TimeSpan.FromMinutes(1)
        ? $"{age.TotalSeconds.ToString("0", CultureInfo.InvariantCulture)} s"
        : age < TimeSpan.FromDays(1)
            ? age.ToString(@"h\:mm\:ss", CultureInfo.InvariantCulture)
            : $"{age.Days.ToString(CultureInfo.InvariantCulture)} d {age.ToString(@"h\:mm\:ss", CultureInfo.InvariantCulture)}";

    private static string OwnerOf(PreparedTransaction branch) => branch.Owner switch
    {
        BranchOwner.ThisServer => branch.QueueDatabase is { } queue ? $"queue in {queue}" : "queue in a database that was dropped",
        BranchOwner.AnotherServer => "queue on another server",
        BranchOwner.Foreign => "foreign",
        _ => throw new ArgumentOutOfRangeException(nameof(branch), branch.Owner, "No such owner."),
    };

    private static string DecisionOf(PreparedTransaction branch) => branch.Decision switch
    {
        BranchDecision.Committed => "committed",
        BranchDecision.Aborted => "rolled back",
        BranchDecision.Undecided => "undecided",
        BranchDecision.Unknown => "unknown",
        _ => throw new ArgumentOutOfRangeException(nameof(branch), branch.Decision, "No such decision."),
    };
}
