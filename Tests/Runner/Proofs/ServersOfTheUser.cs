using System.Globalization;
using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;
using Npgsql;
using Npgsql.Replication;

namespace Kit.Tests.Proofs;

/// <summary>A worker on psql is measured on a server that the kit has not started, for a role that is no superuser.</summary>
[Parallelizable]
[Platform(Exclude = "Win", Reason = "The worker is a shell script.")]
public sealed class ServersOfTheUser
{
    private const string Password = "hush-staging-1";

    private const string Everything =
        """
        SELECT 'database ' || datname FROM pg_database UNION ALL SELECT 'slot ' || slot_name FROM pg_replication_slots
        UNION ALL SELECT 'role ' || rolname FROM pg_roles UNION ALL SELECT 'prepared ' || gid FROM pg_prepared_xacts
        UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
        UNION ALL SELECT 'extension ' || extname FROM pg_extension ORDER BY 1
        """;

    private PrivatePostgreSql started = null!;
    private NamedServer server = null!;
    private IReadOnlyList<string> before = [];
    private TemporaryFolder folder = null!;

    private string File => folder.Below($"polling{ProofFile.Suffix}");

    private string AsRole => server.As("app", Password).ConnectionString;

    [OneTimeSetUp]
    public async Task StartServerAsync()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        if (ExternalProgram.OnSearchPath("psql") is null)
            Assert.Ignore("There is no psql on the search path.");
        started = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        server = new NamedServer(started.ConnectionString);
        await server.ExecuteAsync("ALTER SYSTEM SET wal_level = logical");
        await started.RestartAsync(CancellationToken.None);
        await server.ExecuteAsync($"CREATE ROLE app LOGIN CREATEDB REPLICATION PASSWORD '{Password}'");
        before = await server.ReadAsync(Everything);
    }

    [OneTimeTearDown]
    public async Task StopServerAsync()
    {
        if (started is not null)
            await started.DisposeAsync();
    }

    [SetUp]
    public async Task WriteFileAsync()
    {
        folder = new TemporaryFolder();
        await System.IO.File.WriteAllTextAsync(File, DrainOfAService.TextOf(DrainOfAService.Right));
    }

    [TearDown]
    public void RemoveFolder() => folder.Dispose();

    [Test]
    public async Task Get_a_rate_and_latencies_and_keep_nothing()
    {
        var drained = await DrainAsync();
        var loaded = await RunnerProcess.ProveAsync(
            "load", File, "--rate", "20/s", "--for", "3s", "--warm-up", "10", "--senders", "2", "--postgresql", AsRole, "--out", folder.Below("load"));

        Assert.That(drained.ExitCode, Is.EqualTo(ExitCode.Success), drained.Output + drained.Errors);
        Assert.That(await server.ReadAsync(Everything), Is.EqualTo(before));
        var drain = new DrainFolder(folder.Below("drain")).LoadDocument();
        var round = drain.Counting.Single();
        var (load, result, _) = LoadOfAService.LoadedOf(loaded, folder.Below("load"));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(drain.Named!["postgresql"], Does.StartWith("app at 127.0.0.1:"));
            Assert.That((drain.Disk, drain.Lacks), Is.EqualTo(((DiskFacts?)null, (IReadOnlyList<string>?)null)));
            Assert.That(round.Accounts, Is.EquivalentTo(new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 200 }));
            Assert.That(round.Costs.Commits.Value, Is.GreaterThan(0.99).And.LessThan(10));
            Assert.That(round.Costs.WalBytes.Because, Does.Contain("the work of all its clients"));
            Assert.That((round.Costs.ServerCpuMilliseconds.Value, round.Noise.OtherCpuShare.Value), Is.EqualTo(((double?)null, (double?)null)));
            Assert.That(drain.Traced!.Sessions, Is.Not.Empty);
            Assert.That(drain.Handling!.Mode.Mode, Is.EqualTo("shared"));
            Assert.That(drained.Output, Does.Contain("by the clock of the database server").And.Contain("On your PostgreSQL "));

            Assert.That((result.Sent, result.Failed), Is.EqualTo((60, 0)));
            Assert.That(load.Named, Is.EquivalentTo(drain.Named));
            Assert.That(load.CommandLine, Does.Contain("--postgresql 'Host=127.0.0.1;").And.Contain("Password=***"));
            Assert.That(loaded.Output, Does.Match(@"[0-9.]+ ± 0\.[0-9]+"));
            // There is one clock in truth.
            foreach (var clock in new[] { round.ServerClock!, result.ServerClock! })
                Assert.That(clock.ErrorMilliseconds, Is.LessThan(50).And.GreaterThanOrEqualTo(Math.Abs(clock.AheadMilliseconds)));
            foreach (var text in Directory.EnumerateFiles(folder.Path, "*", SearchOption.AllDirectories).Select(System.IO.File.ReadAllText)
                         .Concat([drained.Output, drained.Errors, loaded.Output, loaded.Errors]))
                Assert.That(text, Does.Not.Contain("hush"));
        }

        var elsewhere = await RunnerProcess.ProveAsync(
            "drain", File, "--messages", "100", "--warm-up", "100", "--rounds", "2", "--out", folder.Below("drain"));
        Assert.That(elsewhere.ExitCode, Is.EqualTo(ExitCode.Usage), elsewhere.Output);
        Assert.That(elsewhere.Errors, Does.Contain("(not the kit's own: app at ").And.Not.Contain("hush"));
    }

    [Test]
    [Exhaustive]
    public async Task Keep_nothing_after_Ctrl_C()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("It is stopped with a signal.");
        using var prove = await StartAsync();

        await prove.SignalAsync("INT");

        Assert.That((await prove.EndAsync()).ExitCode, Is.EqualTo(ExitCode.Interrupted));
        Assert.That(await server.ReadAsync(Everything), Is.EqualTo(before));
    }

    /// <summary>The log that a slot keeps would fill the disk. The databases are dropped by the next start.</summary>
    [Test]
    public async Task Keep_no_slot_after_a_kill_and_nothing_after_the_next_start()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("It is killed with a signal.");
        using (var prove = await StartAsync())
        {
            Assert.That(await server.ReadAsync("SELECT temporary FROM pg_replication_slots"), Is.Not.Empty.And.All.EqualTo("True"));
            await prove.SignalAsync("KILL");
            await prove.EndAsync();
        }

        await Eventually.HoldsAsync(async () => (await server.ReadAsync("SELECT slot_name FROM pg_replication_slots")).Count == 0, "its sessions have ended");
        Assert.That(await server.DatabasesAsync(), Has.Some.StartsWith("kit_"));

        // The start of this one fails.
        var right = await System.IO.File.ReadAllTextAsync(File);
        await System.IO.File.WriteAllTextAsync(File, right.Replace("\"-c\",\"", "\"-c\",\"exit 3;", StringComparison.Ordinal));
        var failed = await DrainAsync("failed");

        Assert.That(failed.ExitCode, Is.EqualTo(ExitCode.Usage), failed.Output + failed.Errors);
        Assert.That(failed.Errors, Does.Contain("the application ended with exit code 3").And.Not.Contain("hush"));
        Assert.That(await server.ReadAsync(Everything), Is.EqualTo(before));
    }

    /// <summary>A monitoring agent connects to every database, and the role may not end its session.</summary>
    [Test]
    public async Task Start_and_end_while_a_session_of_others_keeps_a_database()
    {
        await server.ExecuteAsync("CREATE ROLE agent LOGIN PASSWORD 'hush'");
        var (told, name) = (new List<string>(), "");
        try
        {
            await using var servers = await ProofServers.StartAsync(
                await ReadFileAsync(), Named with { PostgreSqlVariable = "KIT_POSTGRESQL" }, told.Add, CancellationToken.None);
            Assert.That(servers.Announced.First(), Does.Contain(" (KIT_POSTGRESQL): in databases of the kit, which it drops"));
            await servers.CreateDatabaseAsync("orders_1", given => name = given, CancellationToken.None);
            await using (await server.As("agent", "hush").In(name).OpenAsync())
            {
                await servers.DropDatabaseAsync(name);
                Assert.That(told.Single(), Does.StartWith($"{name} is still on your PostgreSQL server: ").And.EndWith(". The next start tries again."));

                await MarkAsOfAnEndedProcessAsync(name);
                Assert.That(
                    (await NamedPostgreSql.OpenAsync(AsRole, CancellationToken.None)).Leftovers.Single().ToString(),
                    Does.StartWith($"{name}, left by a crashed run, is still there: "));
            }

            Assert.That((await NamedPostgreSql.OpenAsync(AsRole, CancellationToken.None)).Leftovers, Is.EqualTo([new Leftover(name)]));
        }
        finally
        {
            await server.ExecuteAsync("DROP ROLE agent");
        }

        Assert.That(await server.ReadAsync(Everything), Is.EqualTo(before));
    }

    /// <summary>A killed process's session can live on for a while, and FORCE does not drop a database with an active slot.</summary>
    [Test]
    public async Task Drop_a_database_whose_slot_is_still_held()
    {
        var name = DatabaseOwner.NewName();
        await DatabaseOwner.CreateAsync(AsRole, name, template: null, CancellationToken.None);
        await MarkAsOfAnEndedProcessAsync(name);
        await using var holder = await server.As("app", Password).In(name).OpenAsync();
        await using var create = new NpgsqlCommand("SELECT pg_create_logical_replication_slot('held', 'test_decoding', true)", holder);
        await create.ExecuteNonQueryAsync();

        Assert.That((await NamedPostgreSql.OpenAsync(AsRole, CancellationToken.None)).Leftovers, Is.EqualTo([new Leftover(name)]));
        Assert.That(await server.ReadAsync(Everything), Is.EqualTo(before));
    }

    /// <summary>They are for the service, not for the making and the reading of its databases.</summary>
    [Test]
    public async Task Whose_role_has_limits_do_not_limit_the_kit()
    {
        await server.ExecuteAsync("ALTER ROLE app SET default_transaction_read_only = on; ALTER ROLE app SET statement_timeout = '30s'");
        try
        {
            await using var bed = await OpenBedAsync(await ReadFileAsync());

            await bed.Bed.SettleAsync(CancellationToken.None);
            Assert.That(bed.Servers.Undecodable, Is.Null);
            Assert.That(await bed.Bed.ReadAsync("orders", "SHOW statement_timeout", CancellationToken.None), Is.EqualTo(["0"]));
        }
        finally
        {
            await server.ExecuteAsync("ALTER ROLE app RESET ALL");
        }

        Assert.That(await server.ReadAsync(Everything), Is.EqualTo(before));
    }

    [Test]
    public async Task Whose_senders_of_the_log_are_all_taken_say_so()
    {
        var taken = new List<LogicalReplicationConnection>();
        try
        {
            for (var left = int.Parse((await server.ReadAsync("SHOW max_wal_senders")).Single(), CultureInfo.InvariantCulture); left > 0; left--)
            {
                taken.Add(new LogicalReplicationConnection(server.ConnectionString));
                await taken[^1].Open();
            }

            await using var bed = await OpenBedAsync(await ReadFileAsync());

            Assert.That(
                () => bed.Bed.StreamCommitsAsync(_ => { }, CancellationToken.None),
                Throws.TypeOf<KitException>().With.Message.StartsWith("The server's log cannot be decoded: no place is free: ")
                    .And.Property(nameof(KitException.Remedy)).Contains("max_wal_senders"));
        }
        finally
        {
            foreach (var one in taken)
                await one.DisposeAsync();
        }
    }

    [Test]
    public async Task Whose_commits_wait_for_standbys_name_them()
    {
        // Nobody waits for one that is not there.
        await ConfigureAsync("ALTER SYSTEM SET synchronous_commit = local", "ALTER SYSTEM SET synchronous_standby_names = 'absent'", "absent");
        try
        {
            await using var servers = await ProofServers.StartAsync(await ReadFileAsync(), Named, _ => { }, CancellationToken.None);

            Assert.That(servers.Standbys, Is.EqualTo("absent"));
        }
        finally
        {
            await ConfigureAsync("ALTER SYSTEM RESET synchronous_standby_names", "ALTER SYSTEM RESET synchronous_commit", "");
        }
    }

    [Test]
    [Exhaustive]
    public async Task Without_logical_decoding_give_a_rate_by_commit_timestamps()
    {
        const string why = "The server's log cannot be decoded: the role has no right to replication.";
        await server.ExecuteAsync("ALTER ROLE app NOREPLICATION");
        try
        {
            var drained = await DrainAsync();
            var loaded = await RunnerProcess.ProveAsync("load", File, "--rate", "20/s", "--for", "1s", "--postgresql", AsRole, "--out", folder.Below("load"));

            Assert.That(drained.ExitCode, Is.EqualTo(ExitCode.Success), drained.Output + drained.Errors);
            Assert.That(drained.Output, Does.Contain($"What commits together is not known, and rows have the moments of their commit timestamps. {why}"));
            var drain = new DrainFolder(folder.Below("drain")).LoadDocument();
            Assert.That(drain.Counting.Single().OffsetsMilliseconds, Has.Count.EqualTo(99));
            Assert.That(drain.Handling!.Mode.Mode, Is.Null, drain.Handling.Mode.ToString());
            Assert.That(drain.Lacks, Has.One.Contains(why));
            await server.ExecuteAsync("ALTER ROLE app REPLICATION");
            Assert.That((await DrainAsync(server.As("app", Password), rounds: 2)).Errors, Does.Contain("(the server's log: not decoded then, decoded now)"));
            Assert.That(
                await System.IO.File.ReadAllTextAsync(new DrainFolder(folder.Below("drain")).ReportPath),
                Does.Contain("by its commit timestamp;").And.Contain(why).And.Not.Contain("log for logical decoding"));

            Assert.That(loaded.ExitCode, Is.EqualTo(ExitCode.Failure), loaded.Output);
            Assert.That(loaded.Errors, Does.StartWith($"error: 'load' follows the commits of rows. {why}\n  → As superuser: ALTER ROLE … REPLICATION."));
            await server.ExecuteAsync("ALTER ROLE app NOREPLICATION");
            await using (var withoutRows = await OpenBedAsync(await ReadFileAsync() with { Effects = [] }))
                Assert.That(await withoutRows.Bed.StreamCommitsAsync(_ => { }, CancellationToken.None), Is.Null, "nothing follows rows");
            Assert.That(await server.ReadAsync(Everything), Is.EqualTo(before));
        }
        finally
        {
            await server.ExecuteAsync("ALTER ROLE app REPLICATION");
        }
    }

    [Test, Exhaustive]
    public async Task Whose_password_is_the_name_of_its_user_continue_a_drain()
    {
        const string name = "hush_or_not";
        await server.ExecuteAsync($"CREATE ROLE {name} LOGIN CREATEDB REPLICATION PASSWORD '{name}'");
        try
        {
            Assert.That((await DrainAsync(server.As(name, name))).ExitCode, Is.EqualTo(ExitCode.Success));

            var continued = await DrainAsync(server.As(name, name), rounds: 2);

            Assert.That(continued.ExitCode, Is.EqualTo(ExitCode.Success), continued.Output + continued.Errors);
            var document = new DrainFolder(folder.Below("drain")).LoadDocument();
            Assert.That(document.Counting, Has.Count.EqualTo(2));
            Assert.That(document.Named!["postgresql"], Does.StartWith("*** at "));
        }
        finally
        {
            await server.ExecuteAsync($"DROP ROLE {name}");
        }
    }

    [Test]
    public async Task Without_any_moment_of_commits_are_refused()
    {
        await using var other = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        var plain = new NamedServer(other.ConnectionString);
        await plain.ExecuteAsync("ALTER SYSTEM SET track_commit_timestamp = off");
        await other.RestartAsync(CancellationToken.None);

        var refused = await RunnerProcess.ProveAsync("drain", File, "--postgresql", other.ConnectionString, "--out", folder.Below("drain"));

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Failure), refused.Output);
        Assert.That(
            refused.Errors,
            Does.Contain("track_commit_timestamp is off. The server's log cannot be decoded: its wal_level is not logical.")
                .And.Contain("ALTER SYSTEM SET wal_level = logical").And.Contain("ALTER SYSTEM SET track_commit_timestamp = on"));
        Assert.That(await plain.DatabasesAsync(), Has.None.StartsWith("kit_"));

        await System.IO.File.WriteAllTextAsync(Path.Combine(other.DataFolder, "standby.signal"), "");
        await other.RestartAsync(CancellationToken.None);
        IsRefused(other.ConnectionString, "The server is a standby, which accepts no writes: ");
    }

    [Test]
    public async Task That_do_not_do_are_refused()
    {
        await server.ExecuteAsync("ALTER ROLE app NOCREATEDB");
        try
        {
            IsRefused(AsRole, "The kit creates databases of its own, and app at 127.0.0.1:");
        }
        finally
        {
            await server.ExecuteAsync("ALTER ROLE app CREATEDB");
        }

        IsRefused(server.As("app", "wrong").ConnectionString, "Wrong password: app at 127.0.0.1:");
        await using var bouncer = await PrivatePgBouncer.StartAsync(server.ConnectionString, "session");
        IsRefused(bouncer.ConnectionTo(server.ConnectionString), "A pooler, such as PgBouncer, answers for the PostgreSQL server: ");
    }

    private NamedServers Named => NamedServers.None with { PostgreSql = new(AsRole) };

    private async Task<ProofFile> ReadFileAsync() => ProofFileReader.Parse(File, await System.IO.File.ReadAllTextAsync(File)).WithTimedRows;

    private async Task<OpenBed> OpenBedAsync(ProofFile file)
    {
        var servers = await ProofServers.StartAsync(file, Named, _ => { }, CancellationToken.None);
        return new OpenBed(servers, await ProofBed.CreateAsync(file, servers, new RequestGate(), CancellationToken.None));
    }

    private async Task ConfigureAsync(string first, string second, string standbys)
    {
        foreach (var statement in new[] { first, second, "SELECT pg_reload_conf()" })
            await server.ExecuteAsync(statement);
        await Eventually.HoldsAsync(async () => (await server.ReadAsync("SHOW synchronous_standby_names")).Single() == standbys, "it is read again");
    }

    private Task<int> MarkAsOfAnEndedProcessAsync(string database) => server.ExecuteAsync(
        $"COMMENT ON DATABASE {database} IS '{OwnerMark.Text.Replace(ProcessIdentity.Current.Started, "earlier", StringComparison.Ordinal)}'");

    private static void IsRefused(string connectionString, string because) => Assert.That(
        () => NamedPostgreSql.OpenAsync(connectionString, CancellationToken.None),
        Throws.TypeOf<KitException>().With.Message.StartsWith(because).And.Property(nameof(KitException.Remedy)).Not.Empty);

    private Task<RunnerResult> DrainAsync(string into = "drain") => DrainAsync(server.As("app", Password), rounds: 1, into);

    private Task<RunnerResult> DrainAsync(NamedServer of, int rounds = 1, string into = "drain") => RunnerProcess.ProveAsync(
        "drain", File, "--messages", "100", "--warm-up", "100", "--rounds", $"{rounds}", "--postgresql", of.ConnectionString, "--out", folder.Below(into));

    /// <summary>A drain that is in its first round.</summary>
    private async Task<RunnerProcess> StartAsync()
    {
        var prove = RunnerProcess.Start(
            [], RunnerProcess.ProvePath, ["drain", File, "--messages", "100000", "--postgresql", AsRole, "--out", folder.Below("drain")]);
        await prove.PrintedAsync("Round 1 of 3");
        await Eventually.HoldsAsync(async () => (await server.ReadAsync("SELECT slot_name FROM pg_replication_slots")).Count > 0, "its round has begun");
        return prove;
    }

    /// <summary>A service's databases and virtual host, and the servers that have them.</summary>
    private sealed record OpenBed(ProofServers Servers, ProofBed Bed) : IAsyncDisposable
    {
        public async ValueTask DisposeAsync()
        {
            await Bed.DisposeAsync();
            await Servers.DisposeAsync();
        }
    }
}
