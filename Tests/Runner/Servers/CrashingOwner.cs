using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

/// <summary>A process that owns a broker and a virtual host, says so, and waits to be killed.</summary>
internal static class CrashingOwner
{
    public const string Command = "crashing-owner";

    /// <param name="input">The folder to start the broker under; then nothing until its end.</param>
    /// <param name="output">Gets the ids of the broker's processes, each on its line.</param>
    public static async Task<int> RunAsync(TextReader input, TextWriter output)
    {
        var parent = (await input.ReadLineAsync())!;
        await using var broker = await PrivateRabbitMq.StartAsync(parent, CancellationToken.None);
        foreach (var id in await broker.FindPidsAsync())
            await output.WriteLineAsync($"{id}");
        // To the end of the input: a killed test leaves no broker behind.
        await input.ReadLineAsync();
        return 0;
    }
}
