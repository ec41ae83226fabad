using Kit.Benchmarks.Floor;
using Kit.Benchmarks.Latencies;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Handlers;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Benchmarks;

public sealed class PgbenchRunsTheEndpointsStatements
{
    private static readonly IReadOnlyList<string> Statements =
        [.. File.ReadLines(Pgbench.Script).Where(line => !line.StartsWith("--", StringComparison.Ordinal))];

    [Test]
    public void Two_statements_each_on_its_own_line() => Assert.That(Statements, Has.Count.EqualTo(2));

    [Test]
    public void The_receive_is_the_endpoints() =>
        Assert.That(
            Statements[0].Replace(" \\gset", "", StringComparison.Ordinal),
            Is.EqualTo(new QueueStatements(RoundTransport.QueueName).Receive
                .Replace("\"", "", StringComparison.Ordinal)
                .Replace("$1", $"'{RoundTransport.QueueName}'", StringComparison.Ordinal)));

    [Test]
    public void The_insert_writes_the_columns_of_a_widget() =>
        Assert.That(Statements[1], Does.StartWith("INSERT INTO widget (id, message_id) VALUES (").And.EndsWith(":message_id::uuid);"));

    [Test]
    public void A_message_is_sent_with_the_columns_and_the_body_that_the_endpoint_reads()
    {
        var statement = File.ReadLines(PgbenchLoad.Script).Single(line => !line.StartsWith("--", StringComparison.Ordinal) && line[0] != '\\');

        Assert.That(statement, Does.Contain($"INSERT INTO {RoundTransport.QueueName} (message_id, type, body) SELECT message_id, '{typeof(BuildWidget)}', "));
        Assert.That(statement, Does.Contain($"'{{\"{nameof(BuildWidget.MessageId)}\":\"' || message_id || '\"}}'"));
    }
}
