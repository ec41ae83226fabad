using System.Globalization;
using Kit.Runner.Servers;

namespace Kit.Tests.Joining;

/// <summary>A network namespace with a cable (a pair of veth interfaces) to this machine, and no other way out.</summary>
internal sealed class OtherMachine : IAsyncDisposable
{
    private readonly string here;

    private OtherMachine(int number)
    {
        // Unique among the tests that run on this machine at the same time.
        var unique = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}n{number}");
        Name = $"kit{unique}";
        here = $"kh{unique}";
        var network = string.Create(CultureInfo.InvariantCulture, $"10.{201 + number}.{Environment.ProcessId % 250}");
        (ServerAddress, Address) = ($"{network}.1", $"{network}.2");
    }

    /// <summary>The name of the namespace.</summary>
    public string Name { get; }

    /// <summary>The address of this machine at the cable.</summary>
    public string ServerAddress { get; }

    /// <summary>The address of the other machine at the cable.</summary>
    public string Address { get; }

    /// <summary>Makes one; the test is ignored, with the reason, where that is not possible.</summary>
    public static async Task<OtherMachine> StartAsync(int number)
    {
        if (!OperatingSystem.IsLinux() || ExternalProgram.OnSearchPath("ip") is null)
            Assert.Ignore("Network namespaces need Linux and the program ip (on Debian and Ubuntu: apt-get install iproute2).");
        var machine = new OtherMachine(number);
        var made = await new ExternalProgram("ip").RunAsync(["netns", "add", machine.Name], CancellationToken.None);
        if (!made.Succeeded)
            Assert.Ignore($"No network namespace can be made here (it takes root): {made.Output.Trim()}");
        const string there = "eth0";
        await DoAsync("link", "add", machine.here, "type", "veth", "peer", "name", there, "netns", machine.Name);
        await DoAsync("address", "add", $"{machine.ServerAddress}/30", "dev", machine.here);
        await DoAsync("link", "set", machine.here, "up");
        await DoAsync("-n", machine.Name, "address", "add", $"{machine.Address}/30", "dev", there);
        await DoAsync("-n", machine.Name, "link", "set", there, "up");
        return machine;
    }

    /// <summary>Pulls the cable.</summary>
    public Task CutAsync() => DoAsync("link", "set", here, "down");

    /// <summary>Removes the namespace, and with it both ends of the cable.</summary>
    public async ValueTask DisposeAsync() => await DoAsync("netns", "delete", Name);

    private static async Task DoAsync(params string[] arguments)
    {
        var done = await new ExternalProgram("ip").RunAsync(arguments, CancellationToken.None);
        Assert.That(done.Succeeded, $"ip {string.Join(' ', arguments)}: {done.Output}");
    }
}
