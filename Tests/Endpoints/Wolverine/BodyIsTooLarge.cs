using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Wolverine;

/// <summary>
/// Wolverine reads no message whose body is larger than <c>MaxIncomingEnvelopeDataSize</c>, by default 4 MiB. When this fails, look at the limits in
/// docs/guides/frameworks.md.
/// </summary>
[Parallelizable]
public sealed class BodyIsTooLarge
{
    private const string Queue = "work";
    private const int Large = 5 * 1024 * 1024;

    [Test]
    public async Task The_message_is_neither_handled_nor_given_up_nor_in_the_way_of_others_also_after_a_restart()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var kind = new WolverineOnPostgreSql();
        await using var queue = kind.OpenQueue(Queue, databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        var large = new BuildWidget(Guid.CreateVersion7());
        var body = JsonSerializer.SerializeToUtf8Bytes(new { large.MessageId, Letters = new string('x', Large) });
        await queue.EnqueueAsync([OutgoingMessage.Create(Queue, large, large.MessageId) with { Body = body }], CancellationToken.None);

        for (var start = 1; start <= 2; start++)
        {
            var behind = new BuildWidget(Guid.CreateVersion7());
            await queue.PreloadAsync([behind], CancellationToken.None);
            using var host = Build();
            await host.StartAsync();
            await Eventually.HoldsAsync(async () => await databases.CountRowsAsync(behind.MessageId) == 1, "the message behind it is handled");
            await host.StopAsync();
        }

        Assert.That(await databases.CountRowsAsync(large.MessageId), Is.Zero);
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(
            await TestDatabases.ScalarAsync(databases.Widgets, "SELECT count(*)::int FROM wolverine_incoming_envelopes WHERE status = 'Incoming'"),
            Is.EqualTo(1));

        IHost Build()
        {
            var builder = new WidgetBuilder(new AdoInsert());
            var application = Host.CreateEmptyApplicationBuilder(settings: null);
            kind.AddEndpoint(
                application.Services,
                new EndpointSettings(Queue, databases.Widgets, databases.Widgets, TransactionMode.Outbox, Concurrency: 1) { PollsOften = true },
                builder.BuildAsync);
            return application.Build();
        }
    }
}
