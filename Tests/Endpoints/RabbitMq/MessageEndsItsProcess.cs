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

        var deaths = 0;
        while (!await EndsQuietlyAsync(new PoisonSpec(cell.Name, transport.Address, databases.Widgets, poison), queue))
            Assert.That(++deaths, Is.LessThanOrEqualTo(cell.Mode.Attempts + 1), "it goes on killing its process");

        Assert.That(deaths, Is.EqualTo(cell.Mode.Attempts + 1));
        var error = (await queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(
            error,
            Has.Property("MessageId").EqualTo(poison).And.Property("FailedAttempts").EqualTo(cell.Mode.Attempts).And.Property("Reason").Contains("cut off"));
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
