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
        var fault = Proxy.CutAfter(Traffic.ToServer, 400_000);

        var sending = TrySendAsync(client, new string('q', 400_000));
        await Task.WhenAny(fault.Fired, Task.Delay(1_000));

        Assert.That(await ReadAsync(server, 500_000), Has.Length.EqualTo(400_000));
        await sending;
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

    [TestCase(1)]
    [TestCase(7)]
    [TestCase(8)]
    [TestCase(13)]
    [TestCase(16)]
    public async Task Cut_after_so_many_bytes_forwards_exactly_these(int bytes)
    {
        var (client, server) = await pair.ConnectAsync();
        await SendAsync(client, "not counted");
        Assert.That(await ReadAsync(server, 11), Is.EqualTo("not counted"));
        var fault = Proxy.CutAfter(Traffic.ToServer, bytes);
        Assert.That(fault.Fired.IsCompleted, Is.False);

        await SendAsync(server, "the other direction is not counted");
        await SendAsync(client, "01234567");
        await Task.Delay(20);
        await TrySendAsync(client, "89abcdef");

        Assert.That(await ReadToEndAsync(server), Is.EqualTo("0123456789abcdef"[..bytes]));
        await fault.Fired.WaitAsync(Eventually.Limit);
    }

    [Test]
    public async Task Cut_after_bytes_of_the_servers_answer()
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAfter(Traffic.ToClient, 4, Ending.Reset);

        await SendAsync(server, "answer");

        await fault.Fired.WaitAsync(Eventually.Limit);
        AssertReset(() => ReadToEndAsync(server));
        AssertReset(() => ReadToEndAsync(client));
    }

    [TestCase(CutMoment.BeforeForwarding, "SELECT 1;", "")]
    [TestCase(CutMoment.AfterForwarding, "SELECT 1;COMMIT;SELECT 2", "")]
    public async Task Cut_at_a_pattern(CutMoment moment, string forwarded, string answered)
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAt("COMMIT;"u8.ToArray(), moment);

        await SendAsync(client, "SELECT 1;COMMIT;SELECT 2");

        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(await ReadToEndAsync(server), Is.EqualTo(forwarded));
        Assert.That(await ReadToEndAsync(client), Is.EqualTo(answered));
    }

    [TestCase("COMMIT;id 7;id 7;COMMIT;COMMIT;", "COMMIT;id 7;id 7;")]
    [TestCase("id 7;id", " 7;SELECT 1;COM", "MIT;COMMIT;", "id 7;id 7;SELECT 1;COM")]
    [TestCase("id 7;COMMIT;i", "d 7;", "COMMIT;", "id 7;COMMIT;id 7;")]
    public async Task Cut_at_the_last_of_patterns_that_follow_each_other(params string[] pieces)
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAt(["id 7"u8.ToArray(), "id 7"u8.ToArray(), "COMMIT;"u8.ToArray()], CutMoment.BeforeForwarding);
        var (sent, forwarded) = (pieces[..^1], pieces[^1]);

        foreach (var piece in sent[..^1])
        {
            await SendAsync(client, piece);
            Assert.That(await ReadAsync(server, piece.Length), Is.EqualTo(piece));
        }

        Assert.That(fault.Fired.IsCompleted, Is.False);
        await SendAsync(client, sent[^1]);

        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(string.Concat(sent[..^1]) + await ReadToEndAsync(server), Is.EqualTo(forwarded));
    }

    [Test]
    public async Task Cut_before_the_answer_waits_for_it_and_withholds_it()
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAt("COMMIT;"u8.ToArray(), CutMoment.BeforeAnswer);

        await SendAsync(client, "COMMIT;");
        Assert.That(await ReadAsync(server, 7), Is.EqualTo("COMMIT;"));
        Assert.That(await IsSilentAsync(client) && !fault.Fired.IsCompleted);
        await SendAsync(server, "done");

        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(await ReadToEndAsync(client), Is.Empty);
    }

    [Test]
    public async Task Held_before_the_pattern_is_forwarded_until_the_proxy_ends_it()
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAt("COMMIT;"u8.ToArray(), CutMoment.BeforeForwarding, Ending.Hold);

        await SendAsync(client, "SELECT 1;COMMIT;");

        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(await ReadAsync(server, 9), Is.EqualTo("SELECT 1;"));
        Assert.That(await IsSilentAsync(server) && await IsSilentAsync(client), "nobody is told");
        Assert.That(await Proxy.EndAllAsync(Ending.Cut), Is.EqualTo(1));
        Assert.That(await ReadToEndAsync(server), Is.Empty, "what was held never comes");
    }

    [Test]
    public async Task Held_before_the_answer_is_forwarded()
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAt("COMMIT;"u8.ToArray(), CutMoment.BeforeAnswer, Ending.Hold);

        await SendAsync(client, "COMMIT;");
        Assert.That(await ReadAsync(server, 7), Is.EqualTo("COMMIT;"));
        await SendAsync(server, "done");

        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(await IsSilentAsync(client));
        Assert.That(Proxy.Connections, Is.EqualTo(1), "held is not ended");
    }

    [Test]
    public async Task Cut_at_a_pattern_that_comes_in_pieces([Range(1, 6)] int first)
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAt("COMMIT;"u8.ToArray(), CutMoment.BeforeForwarding);

        await SendAsync(client, "COMMIT;"[..first]);
        Assert.That(await ReadAsync(server, first), Is.EqualTo("COMMIT;"[..first]), "nothing is held back that may be something else");
        await SendAsync(client, "COMMIT;"[first..]);

        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(await ReadToEndAsync(server), Is.Empty, "the rest is not forwarded");
    }

    [Test]
    public async Task Cut_at_a_pattern_one_byte_at_a_time()
    {
        var (client, server) = await pair.ConnectAsync();
        var fault = Proxy.CutAt("ABABC"u8.ToArray(), CutMoment.BeforeForwarding);

        foreach (var character in "ABABABA")
        {
            await SendAsync(client, character.ToString());
            await ReadAsync(server, 1);
        }

        Assert.That(fault.Fired.IsCompleted, Is.False);
        await SendAsync(client, "B");
        await ReadAsync(server, 1);
        await SendAsync(client, "C");

        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(await ReadToEndAsync(server), Is.Empty);
    }

    [Test]
    public async Task Cut_at_a_pattern_fires_on_the_first_connection_alone()
    {
        var first = await pair.ConnectAsync();
        var second = await pair.ConnectAsync();
        var fault = Proxy.CutAt("COMMIT;"u8.ToArray(), CutMoment.BeforeForwarding);

        // Half of the pattern on each is the pattern on none.
        await SendAsync(first.Client, "COM");
        await SendAsync(second.Client, "MIT;");
        Assert.That(await ReadAsync(second.Server, 4), Is.EqualTo("MIT;"));
        await SendAsync(second.Client, "COMMIT;");
        await fault.Fired.WaitAsync(Eventually.Limit);
        await SendAsync(first.Client, "MIT;");

        Assert.That(await ReadAsync(first.Server, 7), Is.EqualTo("COMMIT;"));
        Assert.That(await ReadToEndAsync(second.Server), Is.Empty);
        Assert.That(Proxy.Connections, Is.EqualTo(1));
    }

    [Test]
    public async Task Cut_at_a_pattern_fires_once_when_many_send_it_at_once()
    {
        var pairs = new List<(Socket Client, Socket Server)>();
        for (var connection = 0; connection < 16; connection++)
            pairs.Add(await pair.ConnectAsync());
        var fault = Proxy.CutAt("COMMIT;"u8.ToArray(), CutMoment.BeforeForwarding);

        await Task.WhenAll(pairs.Select(one => Task.Run(() => SendAsync(one.Client, "COMMIT;"))));
        var received = await Task.WhenAll(pairs.Select(one => ReadAsync(one.Server, 7)));

        Assert.That(received.Count(text => text.Length == 0), Is.EqualTo(1));
        Assert.That(received.Count(text => text == "COMMIT;"), Is.EqualTo(15));
        await fault.Fired.WaitAsync(Eventually.Limit);
        Assert.That(Proxy.Connections, Is.EqualTo(15));
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

    [Test]
    public void Faults_that_cannot_fire_are_refused()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(() => Proxy.CutAfter(Traffic.Both, 1), Throws.InstanceOf<ArgumentOutOfRangeException>());
            Assert.That(() => Proxy.CutAfter(Traffic.ToServer, 0), Throws.InstanceOf<ArgumentOutOfRangeException>());
            Assert.That(() => Proxy.CutAt(ReadOnlyMemory<byte>.Empty, CutMoment.AfterForwarding), Throws.InstanceOf<ArgumentOutOfRangeException>());
            Assert.That(() => Proxy.CutAt([], CutMoment.AfterForwarding), Throws.InstanceOf<ArgumentOutOfRangeException>());
        }
    }

    private static async Task<byte[]> ExchangeAsync(Socket socket, byte[] sent)
    {
        await using var stream = new NetworkStream(socket);
        var received = new byte[sent.Length];
        await Task.WhenAll(stream.WriteAsync(sent).AsTask(), stream.ReadExactlyAsync(received).AsTask()).WaitAsync(Eventually.Limit);
        return received;
    }

    private static async Task TrySendAsync(Socket socket, string text)
    {
        try
        {
            await SendAsync(socket, text);
        }
        catch (SocketException)
        {
            // Cut already.
        }
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
