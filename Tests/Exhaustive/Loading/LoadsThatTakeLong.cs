using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Tests.CommandLine;
using Kit.Tests.Loading;

namespace Kit.Tests.Exhaustive.Loading;

/// <summary>Loads that take long: searches, stalls, users who give up, and handlers that insert no row.</summary>
[Parallelizable]
public sealed class LoadsThatTakeLong : LoadTest
{
    [Test]
    public async Task A_rate_that_one_handler_cannot_do_leaves_a_backlog()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "outbox", "--rate", "5000/s", "--for", "1s",
            "--concurrency", "1", "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var load = new LoadFolder(Folder).LoadDocument().Results.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(load.Sent, Is.EqualTo(5_000));
            Assert.That(load.IsBacklogLeft, $"{load.Backlog}");
            Assert.That(load.Failed, Is.Zero);
        }
    }

    /// <summary>Ten users wait for one handler that compiles a stylesheet for each message: only the first does not wait for others.</summary>
    [Test]
    public async Task Users_who_wait_too_long_give_up_and_their_messages_have_failed()
    {
        IReadOnlyList<string> load =
        [
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "shared", "--scenario", "transform-each", "--concurrency", "1",
            "--users", "10", "--think", "50ms", "--for", "1s", "--seed-rows", "0", "--warmup", "5", "--out",
        ];
        var patient = Path.Combine(Parent, "patient");

        var result = await RunnerProcess.RunAsync([.. load, Folder, "--timeout", "10ms"]);
        var other = await RunnerProcess.RunAsync([.. load, patient]);

        Assert.That((result.ExitCode, other.ExitCode), Is.EqualTo((ExitCode.Success, ExitCode.Success)), result.Output + result.Errors + other.Errors);
        var (document, waited) = (new LoadFolder(Folder).LoadDocument(), new LoadFolder(patient).LoadDocument());
        var (late, none) = (document.Results.Single(), waited.Results.Single());
        using (Assert.EnterMultipleScope())
        {
            Assert.That(late.TimedOut, Is.Positive);
            Assert.That(late.Failed, Is.EqualTo(late.TimedOut + late.Unsent), "what was sent has an effect in the end");
            Assert.That((late.FailedShare, late.DeadLettered, late.Lost), Is.EqualTo(((double)late.Failed / (late.Sent + late.Unsent), (int?)0, (int?)0)));
            Assert.That(result.Output, Does.Match($@"% failed \(0 dead-lettered, 0 lost, {late.TimedOut} timed out[,)]"));
            Assert.That(result.Output, Does.Contain("each of whom waits up to 0.0100 s"));
            Assert.That((none.TimedOut, none.Failed), Is.EqualTo(((int?)0, 0)));
            Assert.That((document.Settings.TimeoutSeconds, waited.Settings.TimeoutSeconds), Is.EqualTo(((double?)0.01, (double?)30)));
            Assert.That(
                File.ReadAllText(new LoadFolder(patient).ReportPath), Does.Contain("- Timeout: a user waits 30.0 s, goes on, and the message has failed"));
        }
    }

    /// <summary>
    /// A handler that compiles a stylesheet for each message is slow, so few rates are tried. In 5 s the search goes down to 20 messages a second: on a
    /// machine that other tests share, this handler does not always sustain 50.
    /// </summary>
    [Test]
    public async Task The_highest_rate_is_found_and_the_cell_is_loaded_below_it()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "shared", "--scenario", "transform-each", "--find-rate",
            "--at-percent", "80,50", "--for", "5s", "--seed-rows", "0", "--warmup", "5", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var document = new LoadFolder(Folder).LoadDocument();
        var found = FoundRate.In(document).Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(document.Results.Select(load => load.ShareOfFound), Is.EqualTo([.. new double?[document.Results.Count - 2], 0.5, 0.8]));
            Assert.That(found.Best, Is.Not.Null, result.Output);
            Assert.That(found.Next!.Rate / found.Best!.Rate, Is.GreaterThan(1).And.LessThanOrEqualTo(RateSearch.Close));
            Assert.That(found.Below.Select(load => load.Rate / found.Best.Rate), Is.EqualTo([0.5, 0.8]).Within(0.01));
            Assert.That(document.Results.Select(load => load.Failed), Is.All.Zero);
        }
    }

    /// <summary>One handler that compiles a stylesheet for each message needs minutes for what is sent in ten seconds.</summary>
    [Test]
    public async Task What_was_not_handled_30_s_after_Ctrl_C_is_counted()
    {
        await StoppedAsync("--mode", "shared", "--scenario", "transform-each", "--concurrency", "1", "--rate", "2000/s", "--warmup", "5");

        var load = new LoadFolder(Folder).LoadDocument().Results.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That($"{load.Outcome}", Is.EqualTo("stalled"));
            Assert.That(load.Outcome.Reasons.Single(), Does.Match("^it was stopped, and [0-9,]+ messages still had to be handled after 30 s$"));
            Assert.That(load.IsStopped);
            Assert.That(load.Sent - load.Failed, Is.InRange(1, load.Sent - 1), "some were handled, and some were not");
            Assert.That(load.Latency!.Max, Is.Positive);
            Assert.That(load.Latency.P50, Is.Null, "most have no effect, and are slower than any other");
        }
    }

    [Test]
    public async Task What_a_handler_sends_ends_the_latency_where_it_inserts_no_row()
    {
        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,outbox", "--scenario", "pass,route,query",
            "--rate", "100/s", "--for", "1s", "--seed-rows", "100", "--warmup", "10", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var loads = new LoadFolder(Folder).LoadDocument().Results;
        Assert.That(loads, Has.Count.EqualTo(2 * 3));
        using (Assert.EnterMultipleScope())
        {
            foreach (var load in loads)
            {
                Assert.That(load.Outcome.IsValid(), $"{load.Cell}: {string.Join(", ", load.Outcome.Reasons)}");
                Assert.That((load.Sent, load.Failed, load.Clock), Is.EqualTo((100, 0, EffectClock.SendCommit)), $"{load.Cell}");
                Assert.That(load.Latency!.P50, Is.Positive, $"{load.Cell}");
            }
        }
    }

    [Test]
    public async Task Users_wait_for_what_a_handler_sends()
    {
        RabbitMqServer.IgnoreWithoutPrograms();

        var result = await RunnerProcess.RunAsync(
            "load", "--framework", "bare,masstransit", "--transport", "postgresql,rabbitmq", "--mode", "dtc-off",
            "--scenario", "pass,query",
            "--users", "2,5", "--think", "20ms", "--for", "1s", "--seed-rows", "100", "--warmup", "10", "--concurrency", "5", "--pool", "5", "--out", Folder);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var loads = new LoadFolder(Folder).LoadDocument().Results;
        Assert.That(loads, Has.Count.EqualTo(2 * 3 * 2), "numbers of users, places, scenarios");
        using (Assert.EnterMultipleScope())
        {
            foreach (var load in loads)
            {
                var on = $"{load.Cell} with {load.Users}";
                Assert.That(load.Outcome.IsValid(), $"{on}: {string.Join(", ", load.Outcome.Reasons)}");
                Assert.That(load.Clock, Is.EqualTo(load.Cell.Transport is "rabbitmq" ? EffectClock.SendReceipt : EffectClock.SendCommit), on);
                Assert.That(load.Failed, Is.Zero, on);
                Assert.That(load.Sent, Is.InRange(load.Users!.Value, load.Users.Value * 1_000 / 20), on);
            }

            var notes = await File.ReadAllTextAsync(new LoadFolder(Folder).ReportPath);
            Assert.That(notes, Does.Contain("ends when a consumer of the runner received what the handler sent, by this machine's clock."));
        }
    }
}
