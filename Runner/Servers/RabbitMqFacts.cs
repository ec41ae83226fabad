using System.Net.Sockets;
using System.Security.Authentication;
using System.Text;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace Kit.Runner.Servers;

/// <summary>Facts that a RabbitMQ broker reports about itself, as far as a run depends on them.</summary>
/// <param name="Address">Host, port and our user, without the password.</param>
/// <param name="Version">As the broker names it.</param>
/// <param name="Management">Address of the management plugin, or where it is expected.</param>
/// <param name="ManagementAbsent">The reason why the plugin cannot be used; <see langword="null"/> if it can.</param>
/// <param name="MayMakeVirtualHosts">True if the kit may create a virtual host of its own.</param>
/// <param name="Alarm">The reason why the broker accepts no messages now, in its own words; <see langword="null"/> if it does.</param>
/// <param name="Refusal">The reason why our user cannot publish at all; <see langword="null"/> if it can.</param>
public sealed record RabbitMqFacts(
    string Address,
    string Version,
    Uri Management,
    string? ManagementAbsent,
    bool MayMakeVirtualHosts,
    string? Alarm,
    string? Refusal)
{
    private const string ConnectionName = "comparison kit, preflight";

    // Long enough for a broker across an ocean, short enough for a person who waits.
    internal static readonly TimeSpan Timeout = TimeSpan.FromSeconds(20);

    // A broker reports at once that it blocks.
    private static readonly TimeSpan BlockedPatience = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan GoodbyePatience = TimeSpan.FromSeconds(1);

    /// <summary>Asks the broker.</summary>
    /// <exception cref="KitException">
    /// The broker is out of reach, refuses user or password, or has no such virtual host. The message never contains the password.
    /// </exception>
    public static async Task<RabbitMqFacts> ReadAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        using var management = new ManagementApi(broker);
        var connection = await ConnectAsync(broker, cancellationToken);
        try
        {
            var (alarm, refusal) = await TryPublishAsync(connection, broker, cancellationToken);
            var absent = await management.WhyAbsentAsync(cancellationToken);
            return new RabbitMqFacts(
                broker.ToString(), VersionOf(connection), broker.Management, absent,
                absent is null && await management.IsAdministratorAsync(cancellationToken), alarm, refusal);
        }
        finally
        {
            await SayGoodbyeAsync(connection);
        }
    }

    /// <summary>Asks the broker and checks that a run can use it.</summary>
    /// <exception cref="KitException">As for <see cref="ReadAsync"/>, and the first fatal problem of <see cref="Findings"/>.</exception>
    public static async Task<RabbitMqFacts> RequireAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        var facts = await ReadAsync(broker, cancellationToken);
        return facts.Findings().FirstOrDefault(finding => finding.IsFatal) is { Problem: { } problem, Remedy: { } remedy }
            ? throw new KitException(problem, remedy)
            : facts;
    }

    /// <summary>The version that the broker reports to a client.</summary>
    /// <inheritdoc cref="ReadAsync" path="/exception"/>
    public static async Task<string> ReadVersionAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        await using var connection = await ConnectAsync(broker, cancellationToken);
        return VersionOf(connection);
    }

    /// <summary>The findings about all that a run depends on, each with its problem if there is one.</summary>
    public IEnumerable<Finding> Findings()
    {
        yield return new Finding("RabbitMQ broker", $"{Version}, {Address}");

        yield return ManagementAbsent is null
            ? new Finding("management plugin", $"answers at {Management}")
            : new Finding(
                "management plugin", $"no answer at {Management}",
                $"{ManagementAbsent}. The kit counts messages with it: AMQP does not report how many are unacknowledged.",
                "On the broker's machine: rabbitmq-plugins enable rabbitmq_management; " +
                "give the user the tag 'administrator'; or give its address with --rabbitmq-management.",
                IsFatal: true);

        if (ManagementAbsent is null)
            yield return MayMakeVirtualHosts
                ? new Finding("own virtual host", "allowed")
                : new Finding(
                    "own virtual host", "not allowed",
                    "Queues are created in the given virtual host, with a prefix; if the kit crashes, they stay there.",
                    "rabbitmqctl set_user_tags <user> administrator; or name a user who is an administrator.");

        yield return (Alarm, Refusal) switch
        {
            ({ } alarm, _) => new Finding(
                "messages taken", "none: an alarm is on",
                $"The broker blocks all publishers: {alarm}.",
                "Free disk space or memory: see 'rabbitmq-diagnostics alarms', disk_free_limit and vm_memory_high_watermark.", IsFatal: true),
            (_, { } refusal) => new Finding(
                "messages taken", "none from this user",
                $"The broker accepts no messages from this user: {refusal}.",
                "rabbitmqctl set_permissions -p <vhost> <user> '.*' '.*' '.*'; or name a user who has these permissions.", IsFatal: true),
            _ => new Finding("messages taken", "yes, no alarm"),
        };
    }

    private static async Task<IConnection> ConnectAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        try
        {
            return await broker.ConnectAsync(ConnectionName, Timeout, cancellationToken);
        }
        catch (BrokerUnreachableException failure)
        {
            throw Explain(failure, broker);
        }
        catch (OperationCanceledException failure) when (!cancellationToken.IsCancellationRequested)
        {
            throw OutOfReach(broker, $"no answer within {Timeout.TotalSeconds:F0} s", failure);
        }
    }

    /// <remarks>
    /// The broker reports an alarm only to a connection that publishes, and only after its first message, which it still confirms. The messages
    /// go to a queue that does not exist: the broker confirms and drops them.
    /// </remarks>
    private static async Task<(string? Alarm, string? Refusal)> TryPublishAsync(
        IConnection connection, RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        var blocked = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        connection.ConnectionBlockedAsync += (_, told) =>
        {
            blocked.TrySetResult(told.Reason);
            return Task.CompletedTask;
        };
        try
        {
            var confirms = new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true);
            var channel = await connection.CreateChannelAsync(confirms, cancellationToken);
            var publish = PublishTwiceAsync(channel, cancellationToken);
            var first = await Task.WhenAny(publish, blocked.Task, Task.Delay(BlockedPatience, cancellationToken));
            if (first == publish)
            {
                await publish;
                return (null, null);
            }

            // From here on, nobody awaits its outcome.
            _ = publish.ContinueWith(late => late.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
            return (first == blocked.Task ? await blocked.Task : $"no confirm within {BlockedPatience.TotalSeconds:F0} s", null);
        }
        catch (OperationInterruptedException refused) when (refused.ShutdownReason is { ReplyCode: Constants.NotAllowed } reason)
        {
            // The answer to opening the virtual host can come this late.
            throw ExplainClosing(reason, broker, refused);
        }
        catch (RabbitMQClientException refused)
        {
            return (null, refused is OperationInterruptedException { ShutdownReason.ReplyText: var text } ? text : refused.Message);
        }
    }

    // A broker no longer reads from a connection that it blocks, not even a close, and the client waits long for an answer.
    private static Task<Task> SayGoodbyeAsync(IConnection connection) =>
        Task.WhenAny(connection.DisposeAsync().AsTask(), Task.Delay(GoodbyePatience, CancellationToken.None));

    private static async Task PublishTwiceAsync(IChannel channel, CancellationToken cancellationToken)
    {
        var nobody = $"kit-nobody-{Guid.NewGuid():N}";
        for (var message = 0; message < 2; message++)
            await channel.BasicPublishAsync(exchange: "", nobody, body: default, cancellationToken);
    }

    private static string VersionOf(IConnection connection) =>
        connection.ServerProperties?.TryGetValue("version", out var version) is true && version is byte[] text ? Encoding.UTF8.GetString(text) : "(unknown)";

    private static KitException Explain(BrokerUnreachableException failure, RabbitMqAddress broker)
    {
        // The outermost is an IOException itself, and says only that there is another inside.
        foreach (var cause in Causes(failure).Skip(1))
        {
            switch (cause)
            {
                case PossibleAuthenticationFailureException:
                    return new KitException(
                        $"The broker refuses this user or password: {broker}.",
                        "Correct them in the URI; guest may connect only from the broker's own machine.", failure);
                case OperationInterruptedException { ShutdownReason: { } reason }:
                    return ExplainClosing(reason, broker, failure);
                case SocketException or AuthenticationException or TimeoutException or ProtocolException or IOException:
                    return OutOfReach(broker, cause.Message, failure);
                default:
                    continue;
            }
        }

        return OutOfReach(broker, failure.Message, failure);
    }

    private static KitException ExplainClosing(ShutdownEventArgs reason, RabbitMqAddress broker, Exception failure) =>
        reason.ReplyText.Contains("not found", StringComparison.Ordinal)
            ? new KitException(
                $"The broker has no such virtual host: {broker}.", "Name one that exists at the end of the URI; / is written %2F.", failure)
            : new KitException(
                $"The broker refuses: {broker}: {reason.ReplyText}.",
                "rabbitmqctl set_permissions -p <vhost> <user> '.*' '.*' '.*'; or see the broker's log.", failure);

    private static KitException OutOfReach(RabbitMqAddress broker, string why, Exception failure) => new(
        $"The RabbitMQ broker is out of reach: {broker}: {why.TrimEnd('.')}.",
        "Start it, or correct host and port; or name no broker, and the kit starts its own.", failure);

    // From the outside in.
    private static IEnumerable<Exception> Causes(Exception failure)
    {
        IEnumerable<Exception> inner = failure switch
        {
            AggregateException many => many.InnerExceptions,
            { InnerException: { } one } => [one],
            _ => [],
        };
        return inner.SelectMany(Causes).Prepend(failure);
    }
}
