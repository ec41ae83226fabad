using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Results;

namespace Kit.Tests.Joining;

/// <summary>Two workers take part in a run with queues on RabbitMQ and widgets in PostgreSQL.</summary>
[Parallelizable]
public sealed class TwoWorkers : JoiningTest
{
    [TestCase("2", 1)]
    [TestCase("1,2", 2, Category = ExhaustiveAttribute.Category)]
    public async Task They_share_the_processes_of_each_round(string processes, int rounds)
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        var broker = (await RabbitMqServer.GetAsync()).Address;
        string[] atTheBroker = ["--rabbitmq", broker.Amqp.AbsoluteUri];
        using var first = StartWorker(atTheBroker);
        using var second = StartWorker(atTheBroker);
        using var runner = StartRun(
        [
            "--transport", "rabbitmq", "--mode", "dtc-off", "--processes", processes, "--workers", "2", "--rounds", "1", "--messages", $"{Messages}",
            .. atTheBroker, "--rabbitmq-management", broker.Management.AbsoluteUri,
        ]);

        var results = await Task.WhenAll(runner.EndAsync(), first.EndAsync(), second.EndAsync());

        var said = string.Join('\n', results.Select(result => result.Output + result.Errors));
        Assert.That(results.Select(result => result.ExitCode), Is.All.EqualTo(ExitCode.Success), said);
        var run = Measured();
        Assert.That(run.Rounds, Has.Count.EqualTo(rounds));
        using (Assert.EnterMultipleScope())
        {
            foreach (var round in run.Rounds)
            {
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(Messages), $"{round.Cell}");
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(Messages).And.Ordered.And.All.Not.Negative, $"{round.Cell}");
                Assert.That(round.Clock, Is.EqualTo(ClockSource.CommitTimestamps));
                var each = round.HandledByEach;
                Assert.That(each?.Sum(), Is.EqualTo(round.Cell.On(Axis.Processes.Name) is null ? null : Messages), $"{round.Cell}");
                Assert.That(each ?? [1, 1], Has.Count.EqualTo(2).And.All.Positive, $"{round.Cell}");
                Assert.That(round.Costs.HandlerCpuMilliseconds.Because, Is.EqualTo("the handlers ran on other machines"));
            }

            Assert.That(run.Document.WorkersNeeded, Is.EqualTo(2));
            Assert.That(run.Document.Workers?.Select(worker => worker.Number), Is.EqualTo([1, 2]));
            Assert.That(run.Document.Workers?.Select(worker => worker.Host.Cores), Is.All.EqualTo(Environment.ProcessorCount));
            Assert.That(results[1].Output + results[2].Output, Does.Contain("The run has ended: completed."));
            Assert.That(said, Does.Not.Contain(Server.Password).And.Not.Contain(broker.Password));
            await NothingIsLeftAsync();
        }
    }
}
