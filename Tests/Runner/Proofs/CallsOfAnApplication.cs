using System.Net;
using System.Net.Sockets;
using System.Text;
using Kit.Prove.Service;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;

namespace Kit.Tests.Proofs;

/// <summary>The kit's endpoint for calls to the outside.</summary>
[Parallelizable]
public sealed class CallsOfAnApplication
{
    private static readonly CrashPoint Commit = new(
        1, new RequestId("orders", "COMMIT", "COMMIT", 1, 1), Before: null, HasAnswer: true, CanBeProved: true);

    [Test]
    public async Task Are_answered_and_counted_by_their_path()
    {
        await using var counter = new CallCounter(new RequestGate());
        using var http = new HttpClient { BaseAddress = counter.Address };

        var got = await http.GetStringAsync(new Uri("/mails/1?of=2", UriKind.Relative));
        using var posted = await http.PostAsync(new Uri("/payments", UriKind.Relative), new StringContent("{ \"id\": 3 }"));

        Assert.That(got, Is.EqualTo("{}"));
        Assert.That(posted.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        Assert.That(counter.Read("/mails"), Is.EqualTo(["GET /mails/1?of=2 "]));
        Assert.That(counter.Read("/payments"), Is.EqualTo(["POST /payments { \"id\": 3 }"]));
        Assert.That(counter.Read("/nothing"), Is.Empty);
        Assert.That(counter.TakeRefused(), Is.Empty);
    }

    [Test]
    public async Task Of_a_process_that_is_about_to_be_killed_do_not_arrive()
    {
        var gate = new RequestGate();
        await using var counter = new CallCounter(gate);
        using var http = new HttpClient { BaseAddress = counter.Address };
        gate.Arm(new MetMoment(Commit, [Commit]), PointWay.NeverSent);
        gate.Freeze();

        var call = http.GetAsync(new Uri("/mails/1", UriKind.Relative));
        IReadOnlyList<string> refused = [];
        await Eventually.HoldsAsync(() => (refused = counter.TakeRefused()).Count > 0, "the call is there");
        Assert.That(call.IsCompleted, Is.False);
        gate.Release();

        using var answer = await call;
        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.ServiceUnavailable));
        Assert.That(counter.Read("/"), Is.Empty);
        Assert.That(refused, Is.EqualTo(["/mails/1"]), "it could have arrived");
    }

    [Test]
    public async Task That_are_still_being_read_when_it_is_stopped_do_not_count()
    {
        var gate = new RequestGate();
        await using var counter = new CallCounter(gate);
        using var client = new TcpClient();
        await client.ConnectAsync(counter.Address.Host, counter.Address.Port);
        var stream = client.GetStream();
        await stream.WriteAsync(Encoding.ASCII.GetBytes($"POST /mails/1 HTTP/1.1\r\nHost: {counter.Address.Authority}\r\nContent-Length: 2\r\n\r\n"));
        await Task.Delay(TimeSpan.FromMilliseconds(300));
        gate.Arm(new MetMoment(Commit, [Commit]), PointWay.NeverSent);
        gate.Freeze();

        await stream.WriteAsync("{}"u8.ToArray());
        IReadOnlyList<string> refused = [];
        await Eventually.HoldsAsync(() => (refused = counter.TakeRefused()).Count > 0, "the call was read");
        gate.Release();

        using var answer = new StreamReader(stream);
        Assert.That(await answer.ReadLineAsync(), Does.Contain("503"));
        Assert.That(counter.Read("/"), Is.Empty);
        Assert.That(refused, Is.EqualTo(["/mails/1"]), "it could have arrived");
    }
}
