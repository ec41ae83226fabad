using System.Net.Sockets;
using Kit.Runner.Wire;
using static Kit.Tests.Faults.ProxiedPair;

namespace Kit.Tests.Faults;

/// <summary>What both ends of a connection see of the faults of the proxy between them.</summary>
[Parallelizable]
public sealed class ConnectionThroughAProxy
{
    private ProxiedPair pair = null!;

    private FaultProxy Proxy => pair.Proxy;

    [SetUp]
    public void StartProxy() => pair = new ProxiedPair();

    [TearDown]
    public async Task StopProxy() => await pair.DisposeAsync();

    [Test]
    public async Task Carries_both_directions_unchanged()
    {
        var (client, server) = await pair.ConnectAsync();
        var sent = new byte[3_000_000];
        new Random(1).NextBytes(sent);

        var received = await Task.WhenAll(ExchangeAsync(client, sent), ExchangeAsync(server, sent));

        Assert.That(received[0].AsSpan().SequenceEqual(sent) && received[1].AsSpan().SequenceEqual(sent));
    }

    [Test]
    public async Task Closed_by_half_still_carries_the_other_direction()
    {
        var (client, server) = await pair.ConnectAsync();

        await SendAsync(client, "question");
        client.Shutdown(SocketShutdown.Send);
        Assert.That(await ReadToEndAsync(server), Is.EqualTo("question"));

        await SendAsync(server, "answer");
        server.Shutdown(SocketShutdown.Send);
        Assert.That(await ReadToEndAsync(client), Is.EqualTo("answer"));
        await Eventually.HoldsAsync(() => Proxy.Connections == 0, "it is closed when both directions are");
    }

    [Test]
    public async Task Reset_by_one_side_is_reset_for_the_other()
    {
        var (client, server) = await pair.ConnectAsync();

        client.LingerState = new LingerOption(enable: true, seconds: 0);
        client.Close();

        AssertReset(() => ReadToEndAsync(server));
    }

    [Test]
    public async Task Cut_ends_the_stream_on_both_sides()
    {
        var pairs = new[] { await pair.ConnectAsync(), await pair.ConnectAsync() };
        await SendAsync(pairs[0].Client, "before");
        Assert.That(await ReadAsync(pairs[0].Server, 6), Is.EqualTo("before"));

        Assert.That(await Proxy.EndAllAsync(Ending.Cut), Is.EqualTo(2));

        foreach (var (client, server) in pairs)
        {
            Assert.That(await ReadToEndAsync(client), Is.Empty);
            Assert.That(await ReadToEndAsync(server), Is.Empty);
        }

        Assert.That(Proxy.Connections, Is.Zero);
        Assert.That(await Proxy.EndAllAsync(Ending.Cut), Is.Zero, "nothing is left to fire on");
    }

    [Test]
    public async Task Ended_with_a_filter_that_fails_is_told_to_both_sides()
    {
        await using var failing = new ProxiedPair(new ProxiedNetwork { Filter = _ => new FailingFilter() });
        var (client, server) = await failing.ConnectAsync();

        Assert.That(await failing.Proxy.EndAllAsync(Ending.Cut).WaitAsync(Eventually.Limit), Is.EqualTo(1));

        Assert.That(await ReadToEndAsync(client), Is.Empty);
        Assert.That(await ReadToEndAsync(server), Is.Empty);
    }

    [Test]
    public async Task Reset_is_an_error_on_both_sides()
    {
        var (client, server) = await pair.ConnectAsync();

        Assert.That(await Proxy.EndAllAsync(Ending.Reset), Is.EqualTo(1));

        AssertReset(() => ReadToEndAsync(client));
        AssertReset(() => ReadToEndAsync(server));
    }

    [Test]
    public async Task Connects_again_after_a_cut()
    {
        await pair.ConnectAsync();
        await Proxy.EndAllAsync(Ending.Cut);

        var client = await pair.ConnectClientAsync();

        await Eventually.HoldsAsync(() => Proxy.Connections == 1, "a new connection goes through");
        Assert.That(await IsSilentAsync(client));
    }

    [Test]
    public async Task Stalled_holds_both_directions_until_it_is_resumed()
    {
        var (client, server) = await pair.ConnectAsync();

        Assert.That(Proxy.Stall(Traffic.Both), Is.EqualTo(1));
        await SendAsync(client, "question");
        await SendAsync(server, "answer");
        Assert.That(await IsSilentAsync(server) && await IsSilentAsync(client));

        Assert.That(Proxy.Resume(Traffic.Both), Is.EqualTo(1));
        Assert.That(await ReadAsync(server, 8), Is.EqualTo("question"));
        Assert.That(await ReadAsync(client, 6), Is.EqualTo("answer"));
    }

    [Test]
    public async Task Stalled_in_one_direction_carries_the_other()
    {
        var (client, server) = await pair.ConnectAsync();

        Proxy.Stall(Traffic.ToClient);
        await SendAsync(client, "question");
        Assert.That(await ReadAsync(server, 8), Is.EqualTo("question"));
        await SendAsync(server, "answer");
        Assert.That(await IsSilentAsync(client));

        Proxy.Resume(Traffic.ToClient);
        Assert.That(await ReadAsync(client, 6), Is.EqualTo("answer"));
    }

    [Test]
    public async Task Stalled_hides_that_one_side_has_closed()
    {
        var (client, server) = await pair.ConnectAsync();

        Proxy.Stall(Traffic.ToServer);
        client.Shutdown(SocketShutdown.Send);
        Assert.That(await IsSilentAsync(server));

        Proxy.Resume(Traffic.ToServer);
        Assert.That(await ReadToEndAsync(server), Is.Empty);
    }

    [Test]
    public async Task Stalled_is_cut_without_what_it_held()
    {
        var (client, server) = await pair.ConnectAsync();
        Proxy.Stall(Traffic.Both);
        await SendAsync(client, "question");
        Assert.That(await IsSilentAsync(server));

        Assert.That(await Proxy.EndAllAsync(Ending.Cut), Is.EqualTo(1));
        Proxy.Resume(Traffic.Both);

        Assert.That(await ReadToEndAsync(server), Is.Empty);
    }

    [Test]
    public async Task Cut_delivers_what_was_forwarded_to_a_server_that_reads_late_and_still_talks()
    {
        var (client, server) = await pair.ConnectAsync();
        Proxy.Stall(Traffic.ToClient);
        await SendAsync(server, new string('a', 100_000));
        await SendAsync(client, new string('q', 40_000));
        await Eventually.HoldsAsync(() => server.Available == 40_000, "all is forwarded");

        Assert.That(await Proxy.EndAllAsync(Ending.Cut), Is.EqualTo(1));

        Assert.That(await ReadAsync(server, 50_000), Has.Length.EqualTo(40_000));
    }

    [Test]
    public async Task Refused_when_it_is_new_and_left_alone_when_it_is_open()
    {
        var (client, server) = await pair.ConnectAsync();

        Proxy.RefuseConnections();
        AssertReset(async () => await ReadToEndAsync(await pair.ConnectClientAsync()));
        Assert.That(Proxy.Refused, Is.EqualTo(1));
        await SendAsync(client, "still");
        Assert.That(await ReadAsync(server, 5), Is.EqualTo("still"));

        Proxy.AcceptConnections();
        await pair.ConnectClientAsync();
        await Eventually.HoldsAsync(() => Proxy.Connections == 2, "new connections go through again");
        Assert.That(Proxy.Refused, Is.EqualTo(1));
    }

    [Test]
    public void Refused_by_the_server_is_refused_by_the_proxy()
    {
        pair.StopServer();

        AssertReset(async () => await ReadToEndAsync(await pair.ConnectClientAsync()));
        Assert.That(Proxy.Refused, Is.Zero, "the proxy did not do it");
    }

    [Test]
    public async Task Disposed_ends_what_is_open_and_listens_no_more()
    {
        var (client, server) = await pair.ConnectAsync();
        Proxy.Stall(Traffic.Both);
        await SendAsync(client, "held");

        await Proxy.DisposeAsync().AsTask().WaitAsync(Eventually.Limit);

        Assert.That(await ReadToEndAsync(server), Is.Empty);
        Assert.That(await pair.ConnectClientAsync().ContinueWith(connect => connect.IsFaulted, TaskScheduler.Default));
    }

    private static async Task<byte[]> ExchangeAsync(Socket socket, byte[] sent)
    {
        await using var stream = new NetworkStream(socket);
        var received = new byte[sent.Length];
        await Task.WhenAll(stream.WriteAsync(sent).AsTask(), stream.ReadExactlyAsync(received).AsTask()).WaitAsync(Eventually.Limit);
        return received;
    }

    private static void AssertReset(Func<Task> read) =>
        Assert.That(
            async () => await read(),
            Throws.InstanceOf<SocketException>().With.Property(nameof(SocketException.SocketErrorCode)).EqualTo(SocketError.ConnectionReset));

    private sealed class FailingFilter : IConnectionFilter
    {
        public void See(Traffic direction, ReadOnlySpan<byte> piece)
        {
            // Nothing passes.
        }

        public void End() => throw new InvalidOperationException("A mistake.");
    }
}
