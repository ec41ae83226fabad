using Kit.Runner.Results;

namespace Kit.Tests.CommandLine;

public sealed class PairThatDoesNotExist
{
    [Test]
    public async Task Is_refused_by_choose_with_those_that_exist()
    {
        var result = await RunnerInProcess.RunAsync(
            "choose", "--rows", "same-server", "--tolerates", "once", "--framework", "masstransit", "--transport", "postgresql");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage), result.Output);
        Assert.That(result.Errors, Does.StartWith(
            "error: --framework masstransit --transport postgresql: the kit has no such pair. " +
            "Pairs: bare/postgresql, bare/postgresql-apart, bare/rabbitmq, bare/sqlserver, "));
        Assert.That(result.Output, Is.Empty);
    }
}
