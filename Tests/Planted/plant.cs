// Plants one fault after the other in a copy of the sources, builds it, and says which tests fail:
//
//     dotnet run Tests/Planted/plant.cs -- --check                  each fault can still be planted
//     dotnet run Tests/Planted/plant.cs -- [--only NAME] [--near]   plants all, or those whose name contains NAME
//
// The copy is a clone of the last commit in a temporary folder. The projects of tests run one after the other, from the fastest, and the first
// that fails ends a fault. --near runs only the tests that should find it, which takes minutes instead of hours; what they miss is not proven missed.
// Exit code 0: each fault was found; 1: one was not, or can no longer be planted; 2: wrong arguments.
#:property PublishAot=false
#:property ManagePackageVersionsCentrally=false

using System.Diagnostics;

// From the fastest: what is tested, and which of its tests.
(string[] Tested, string Category)[] stages =
[
    (["Tests/Pure"], "TestCategory!=Exhaustive"),
    (["Tests/Endpoints"], "TestCategory!=Exhaustive"),
    (["Tests/Runner"], "TestCategory!=Exhaustive"),
    (["Kit.sln", "-p:Exhaustive=true"], "TestCategory=Exhaustive"),
];

PlantedFault[] faults =
[
    new("acknowledged before the commit", "RabbitMq|Contract|OneFaultMeetsAMessage", "Endpoints/Bare.RabbitMq/DtcOffReceiver.cs",
        ("var sends = await handlers", "await message.AcknowledgeAsync();\n            var sends = await handlers"),
        ("        await message.AcknowledgeAsync();\n        return true;", "        return true;")),
    new("branch not recovered", "TwoPhase", "Endpoints/Bare.PostgreSql/TwoPhase/Recovery.cs",
        ("if (holder.IsYoungerThan(olderThan) && !left.Contains(branch))", "if (!left.Contains(branch))")),
    new("attempt not counted", "Contract|RabbitMq", "Endpoints/Bare/RetryRule.cs", ("message.FailedAttempts + 1;", "message.FailedAttempts;")),
    new("receive takes two rows", "Contract|Tests.Bare", "Endpoints/Bare.PostgreSql/Queues/QueueStatements.cs",
        ("Receiving($\"= ({First(\"1\")})\", Columns)", "Receiving($\"= ANY (ARRAY({First(\"2\")}))\", Columns)")),
    new("send outside the transaction", "QueueRefusesACommit|Contract|Tests.Bare", "Endpoints/Bare.PostgreSql/Queues/QueueSession.cs",
        (": PostgreSqlStatement.ExecuteAllAsync(connection, messages.Select(QueueStatements.Sending));",
         ": SendOutsideAsync(messages);\n\n    private async Task SendOutsideAsync(IEnumerable<OutgoingMessage> messages)\n    {\n" +
         "        await using var other = (NpgsqlConnection)((ICloneable)connection).Clone();\n        await other.OpenAsync();\n" +
         "        await PostgreSqlStatement.ExecuteAllAsync(other, messages.Select(QueueStatements.Sending));\n    }")),
    new("no rollback to the savepoint", "Contract|Tests.Bare", "Endpoints/Bare.PostgreSql/Queues/QueueSession.cs",
        ("await ExecuteAsync($\"ROLLBACK TO SAVEPOINT {BeforeHandler}\");", "await ExecuteAsync(\"SELECT 1\");")),
    new("lost line of the journal", "Faults|Accounts", "Runner/Results/Accounts/AttemptJournal.cs",
        ("        lock (writing)\n            file.Write(bytes);",
         "        lock (writing)\n        {\n            if (++lines % 7 != 0)\n                file.Write(bytes);\n        }"),
        ("    private readonly Lock writing = new();", "    private readonly Lock writing = new();\n    private int lines;")),
    new("wrong quantile", "Quantile|Loads", "Runner/Results/Quantile.cs",
        ("SortedArrayStatistics.Quantile(sorted, share)", "SortedArrayStatistics.QuantileCustom(sorted, share, QuantileDefinition.R7)")),
    new("row not counted", "Rounds|Contract", "Runner/Stage/CellStage.cs",
        ("[.. built.Select(", "[.. built.DistinctBy(row => row.MessageId).Select("),
        ("TableRows = await Databases.CountAsync(cancellationToken)", "TableRows = seedRows + warmUp.Count + messages.Count")),
    new("resumed round made twice", "Resum|Rounds", "Runner/Rounds/ResumedRun.cs",
        (": null;\n    }\n\n    /// <exception cref=\"KitException\">The rounds that follow",
         ": made.Max(attempt => attempt.Attempt) + 1;\n    }\n\n    /// <exception cref=\"KitException\">The rounds that follow")),
    new("server left behind", "Tests.Servers|RunThatIsStopped", "Runner/Servers/PrivatePostgreSql.cs",
        ("public ValueTask DisposeAsync() => new(control.RemoveAsync());", "public ValueTask DisposeAsync() => ValueTask.CompletedTask;")),
    new("secret in a document", "Mask|Servers|SqlServerWithoutAServer", "Runner/Servers/ConnectionStrings.cs",
        ("(Passwords.AreNamed(key) ? Masked : settings[key])", "settings[key]")),
    new("a retry too many", "Contract|RabbitMq", "Endpoints/Bare/RetryRule.cs", (">= mode.Attempts => null", "> mode.Attempts => null")),
    new("outbox record deleted before its send", "Outbox", "Endpoints/Bare/Outbox/OutboxDispatcher.cs",
        ("        var dispatched = new List<OutboxRecord>();",
         "        var dispatched = new List<OutboxRecord>();\n        await claim.ForgetAsync([.. claim.Records]);"),
        ("            await claim.ForgetAsync(dispatched);", "            dispatched.Clear();")),
    new("recovery reads without fencing", "AcrossServers", "Endpoints/Bare.PostgreSql/TwoPhase/WorkerRows.cs",
        ("$\"UPDATE {table} SET is_fenced = true WHERE id = $1 RETURNING open, {StandbyWait.OfTransaction}\"",
         "$\"SELECT open FROM {table} WHERE id = $1\"")),
    new("number removed before its branch has ended", "AcrossServers|Participants", "Endpoints/Bare.PostgreSql/TwoPhase/WorkerRow.cs",
        ("open = [.. decided.Select(branch => branch.Number).Distinct(), number];", "open = [number];")),
    new("recovery does not wait for the decision", "TwoPhase", "Endpoints/Bare.PostgreSql/TwoPhase/BranchDecisions.cs",
        ("BranchDecision.Aborted => branch.RollBack,", "BranchDecision.Aborted or BranchDecision.Undecided => branch.RollBack,"),
        ("BranchDecision.Undecided or BranchDecision.Unknown => null,", "BranchDecision.Unknown => null,")),
    new("proxy cuts one request too late", "Faults.Points", "Runner/Wire/RequestGate.cs",
        ("PointWay.NeverSent => GateDecision.Stop,", "PointWay.NeverSent => GateDecision.Watch,")),
    new("promise weaker by one class", "Promise", "Guarantees/Fault.cs",
        ("OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Lost]",
         "OneUnit: [Once, Duplicated], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Lost]")),
    new("injection that does nothing", "FaultThatDoesNotHappen|OneFaultOfEachKind", "Runner/Faults/Injections/SlotsExhausted.cs",
        ("            while (await slots.TryTakeAsync(cancellationToken))\n                slots.Count++;\n", "")),
    new("sends of a message counted once", "SendsOfAnEndpoint", "Runner/Faults/Testbeds/Testbed.cs",
        ("Shape.SendsOf(arrived.Select(row => row.CausedBy))", "Shape.SendsOf(arrived.Select(row => row.CausedBy).Distinct())")),
    new("void taken for kept", "VerdictAtAPoint", "Runner/Faults/Points/PointVerdict.cs",
        ("(Final.Contains) ? FaultVerdict.Broken : FaultVerdict.Void,", "(Final.Contains) ? FaultVerdict.Broken : FaultVerdict.Kept,")),
    new("ratio of unpaired rounds", "Ratio|Summary|Comparing", "Runner/Results/CellResult.cs",
        ("join other in reference.Counting on mine.Round equals other.Round", "from other in reference.Counting")),
    new("page shows another cell's number", "Pages|Documentation", "Runner/Results/Pages/ModesTable.cs",
        ("RateOf(run.CellOf(mode))", "RateOf(run.CellOf(ShownCells.Modes[0]))")),
    new("option parsed and ignored", "Loading|CommandLine", "Runner/Loads/LoadCommand.cs",
        ("parsed.GetValue(warmUp) ?? DefaultWarmUp,", "DefaultWarmUp,")),
];

var chosen = faults;
var near = false;
for (var at = 0; at < args.Length; at++)
{
    if (args[at] is "--only" && at + 1 < args.Length && faults.Where(fault => fault.Name.Contains(args[at + 1])).ToArray() is { Length: > 0 } named)
        (chosen, at) = (named, at + 1);
    else if (args[at] is "--near")
        near = true;
    else if (args[at] is not "--check")
    {
        Console.Error.WriteLine($"Unexpected: {args[at]}. Faults: {string.Join(", ", faults.Select(fault => fault.Name))}.");
        return 2;
    }
}

var here = Directory.GetCurrentDirectory();
var stale = chosen.Where(fault => !fault.FitsIn(here)).Select(fault => fault.Name).ToList();
foreach (var name in stale)
    Console.WriteLine($"cannot be planted any more, for its text is not in its file exactly once: {name}");
if (stale.Count > 0 || args.Contains("--check"))
    return stale.Count > 0 ? 1 : 0;

var copy = Directory.CreateTempSubdirectory("planted-").FullName;
var missed = 0;
try
{
    Run("git", ["clone", "-q", here, copy], here);
    foreach (var fault in chosen)
    {
        var watch = Stopwatch.StartNew();
        fault.PlantIn(copy);
        var found = FindIn(fault);
        Run("git", ["checkout", "-q", "."], copy);
        missed += found is null ? 1 : 0;
        Console.WriteLine($"| {fault.Name} | {found ?? "**not found**"} | {watch.Elapsed.TotalSeconds:0} s |");
    }
}
finally
{
    Directory.Delete(copy, recursive: true);
}

Console.WriteLine($"{chosen.Length - missed} of {chosen.Length} found.");
return missed == 0 ? 0 : 1;

string? FindIn(PlantedFault fault)
{
    foreach (var (tested, category) in stages)
    {
        // Most faults are found by the first stages, which need no build of the others.
        if (Run("dotnet", ["build", .. tested, "-v", "q", "-p:RunAnalyzers=false"], copy) is { ExitCode: not 0 } broken)
            throw new InvalidOperationException($"{fault.Name} no longer compiles: {broken.Output}");
        var filter = near ? $"{category}&({string.Join('|', fault.Near.Split('|').Select(part => $"FullyQualifiedName~{part}"))})" : category;
        var tests = Run("dotnet", ["test", .. tested, "--no-build", "--filter", filter, "--", "NUnit.StopOnError=true"], copy);
        var failed = tests.Output.Split('\n').Select(line => line.Trim()).Where(line => line.StartsWith("Failed ", StringComparison.Ordinal)).ToList();
        if (failed.Count > 0)
            return $"{string.Join(' ', tested)}: {string.Join(", ", failed.Take(2).Select(line => line["Failed ".Length..line.LastIndexOf('[')].Trim()))}";
        if (tests.ExitCode != 0)
            throw new InvalidOperationException($"{tested[0]} told no test that failed: {tests.Output}");
    }

    return null;
}

static (int ExitCode, string Output) Run(string program, string[] arguments, string folder)
{
    using var process = Process.Start(new ProcessStartInfo(program, arguments) { WorkingDirectory = folder, RedirectStandardOutput = true })!;
    var output = process.StandardOutput.ReadToEnd();
    process.WaitForExit();
    return (process.ExitCode, output);
}

/// <param name="Name">What is wrong.</param>
/// <param name="Near">Parts of the names of the tests that should find it, between bars.</param>
/// <param name="File">Where it is planted.</param>
/// <param name="Changes">What stands there once, and what takes its place.</param>
internal sealed record PlantedFault(string Name, string Near, string File, params (string Old, string New)[] Changes)
{
    public bool FitsIn(string root) =>
        System.IO.File.ReadAllText(Path.Combine(root, File)) is var text && Changes.All(change => text.Split(change.Old).Length == 2);

    public void PlantIn(string root)
    {
        var path = Path.Combine(root, File);
        System.IO.File.WriteAllText(path, Changes.Aggregate(System.IO.File.ReadAllText(path), (text, change) => text.Replace(change.Old, change.New)));
    }
}
