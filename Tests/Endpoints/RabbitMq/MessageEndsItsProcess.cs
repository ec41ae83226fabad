using System.Diagnostics;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// A message whose handler kills the process leaves no failure that anybody could count, and must still come to an end. Bare alone: MassTransit
/// counts attempts in its process and hands such a message out for ever.
/// </summary>
[Parallelizable]
public sealed class MessageEndsItsProcess
{
    private const int Messages = 100;

    [TestCase("dtc-off")]
    [TestCase("scope-off", Category = ExhaustiveAttribute.Category)]
    [TestCase("outbox", Category = ExhaustiveAttribute.Category)]
    public async Task To_the_error_queue_after_a_bounded_number_of_deaths_and_no_other_message_with_it(string mode)
    {
        var cell = Cell.All.Single(cell => cell.Name == $"bare.rabbitmq.{mode}.ado");
        await using var databases = await TestDatabases.CreateAsync();
        await using var transport = await TestTransport.OpenAsync(cell, databases);
        await using var queue = cell.Kind.OpenQueue(cell.Name, transport.Address);
        await queue.CreateAsync(CancellationToken.None);
        var messages = Enumerable.Range(0, Messages).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
        await queue.PreloadAsync(messages, CancellationToken.None);
        // In the middle of what is prefetched.
        var poison = messages[20].MessageId;

        // If the process dies when it has sent the message to be tried again, and the broker has no acknowledgement yet, there are two.
        var bound = cell.Mode.Attempts + 1;
        var deaths = 0;
        while (!await EndsQuietlyAsync(new PoisonSpec(cell.Name, transport.Address, databases.Widgets, poison), queue))
            Assert.That(++deaths, Is.LessThanOrEqualTo(2 * bound), "it goes on killing its process");

        var errors = await queue.ReadErrorsAsync(CancellationToken.None);
        Assert.That(errors, Has.Count.InRange(1, 2));
        Assert.That(deaths, errors.Count == 1 ? Is.EqualTo(bound) : Is.InRange(bound, 2 * bound));
        foreach (var error in errors)
        {
            Assert.That(error.MessageId, Is.EqualTo(poison));
            Assert.That(error.FailedAttempts, Is.EqualTo(cell.Mode.Attempts));
            Assert.That(error.Reason, Does.Contain("cut off"));
        }

        var rows = await databases.ReadRowsByMessageAsync();
        Assert.That(messages.Where(message => message.MessageId != poison && !rows.ContainsKey(message.MessageId)), Is.Empty, "lost");
    }

    /// <summary>Runs the endpoint until its queue is empty, or until it was killed.</summary>
    private static async Task<bool> EndsQuietlyAsync(PoisonSpec spec, IMessageQueue queue)
    {
        using var process = Start();
        try
        {
            await process.StandardInput.WriteLineAsync(JsonSerializer.Serialize(spec));
            await process.StandardInput.FlushAsync();
            await Eventually.HoldsAsync(
                async () => process.HasExited || await queue.CountAsync(CancellationToken.None) == 0, "the endpoint empties its queue or ends");
            return !process.HasExited;
        }
        finally
        {
            process.Kill();
            await process.WaitForExitAsync();
        }
    }

    private static Process Start() => Process.Start(new ProcessStartInfo(
        "dotnet",
        ["exec", typeof(PoisonedEndpoint).Assembly.Location, PoisonedEndpoint.Command])
    {
        UseShellExecute = false,
        RedirectStandardInput = true,
    })!;
}
