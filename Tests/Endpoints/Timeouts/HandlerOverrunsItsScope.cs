using System.Diagnostics;
using System.Text.Json;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Timeouts;

/// <summary>A scope around a handler that opens connections of its own, and takes longer than it may.</summary>
[Parallelizable]
public sealed class HandlerOverrunsItsScope
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // Long enough for a new process to open a connection and write.
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(5);

    private TestDatabases databases = null!;

    [SetUp]
    public async Task SetUp() => databases = await TestDatabases.CreateAsync();

    [TearDown]
    public async Task TearDown() => await databases.DisposeAsync();

    [Test]
    public async Task Its_token_is_cancelled_and_what_it_wrote_is_rolled_back()
    {
        await using var data = NpgsqlDataSource.Create(databases.Widgets);

        var late = await Assert.ThrowsAsync<TimeoutException>(
            async () => await DeadlineScope.RunAsync(
                new TransactionSettings(TransactionMode.DtcOff, Second),
                async inTime => await InsertAndWaitAsync(data, inTime),
                CancellationToken.None));

        Assert.That(late!.Message, Does.Contain("did not finish within 00:00:01"));
        Assert.That(late.InnerException, Is.InstanceOf<OperationCanceledException>());
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
    }

    [Test]
    public async Task In_time_it_commits()
    {
        await using var data = NpgsqlDataSource.Create(databases.Widgets);

        await DeadlineScope.RunAsync(
            new TransactionSettings(TransactionMode.DtcOff, Eventually.Limit),
            async _ => await InsertAsync(data),
            CancellationToken.None);

        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    [Test]
    public async Task Beyond_the_longest_time_out_of_the_process_its_late_work_stays()
    {
        var said = await RunInItsOwnProcessAsync(maximum: Longest);

        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(
            said, Does.Contain($"Anything it wrote after {Longest} (TransactionManager.MaximumTimeout) was outside the transaction"));
    }

    [Test]
    public async Task Where_the_process_has_no_longest_time_out_nothing_stays()
    {
        var said = await RunInItsOwnProcessAsync(maximum: TimeSpan.Zero);

        Assert.That(await databases.CountRowsAsync(), Is.Zero);
        Assert.That(said, Does.Contain("did not finish within 00:00:01").And.Not.Contain("MaximumTimeout"));
    }

    private static async Task InsertAndWaitAsync(NpgsqlDataSource data, CancellationToken inTime)
    {
        await InsertAsync(data);
        await Task.Delay(Eventually.Limit, inTime);
    }

    private static async Task InsertAsync(NpgsqlDataSource data)
    {
        await using var insert = data.CreateCommand("INSERT INTO widget (id, message_id) VALUES (1, gen_random_uuid())");
        await insert.ExecuteNonQueryAsync();
    }

    private async Task<string> RunInItsOwnProcessAsync(TimeSpan maximum)
    {
        var program = typeof(OverrunningHandler).Assembly.Location;
        using var process = Process.Start(new ProcessStartInfo("dotnet", ["exec", program, OverrunningHandler.Command])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        })!;
        await process.StandardInput.WriteLineAsync(JsonSerializer.Serialize(new OverrunSpec(databases.Widgets, maximum, Second)));
        await process.StandardInput.FlushAsync();
        var said = await process.StandardOutput.ReadToEndAsync();
        await process.WaitForExitAsync();
        Assert.That(process.ExitCode, Is.Zero);
        return said;
    }
}
