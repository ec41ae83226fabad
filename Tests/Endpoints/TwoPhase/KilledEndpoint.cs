using System.Diagnostics;
using System.Text.Json;

namespace Kit.Tests.TwoPhase;

/// <summary>A <see cref="CrashingEndpoint"/>, which is killed in the end.</summary>
internal sealed class KilledEndpoint(Process process) : IAsyncDisposable
{
    /// <summary>Starts it, and returns when it has handled its first message.</summary>
    public static async Task<KilledEndpoint> StartAsync(string cell, string queue, string widgets, string? participant = null)
    {
        var start = new ProcessStartInfo("dotnet", ["exec", typeof(CrashingEndpoint).Assembly.Location, CrashingEndpoint.Command])
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        var endpoint = new KilledEndpoint(Process.Start(start)!);
        try
        {
            await endpoint.HandledAsync(new CrashSpec(cell, queue, widgets, participant));
            return endpoint;
        }
        catch
        {
            await endpoint.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        process.Kill();
        await process.WaitForExitAsync();
        process.Dispose();
    }

    private async Task HandledAsync(CrashSpec spec)
    {
        await process.StandardInput.WriteLineAsync(JsonSerializer.Serialize(spec));
        await process.StandardInput.FlushAsync();
        using var patience = new CancellationTokenSource(Eventually.Limit);
        while (await process.StandardOutput.ReadLineAsync(patience.Token) is { } line)
        {
            if (line == CrashingEndpoint.Handled)
                return;
        }

        Assert.Fail($"The endpoint ended before it said '{CrashingEndpoint.Handled}': {await process.StandardError.ReadToEndAsync()}");
    }
}
