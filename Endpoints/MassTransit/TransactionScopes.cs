using Kit.Modes;
using MassTransit;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// Adds a <see cref="TransactionScopeFilter{TMessage}"/> to each consumer, saga and handler that is configured later. It refuses activities and jobs, and a
/// second one for a message.
/// </summary>
internal sealed class TransactionScopes(TransactionSettings settings)
    : IConsumerConfigurationObserver, ISagaConfigurationObserver, IHandlerConfigurationObserver, IActivityConfigurationObserver
{
    /// <summary>Who consumes which type of message. An observer can be told of one more than once.</summary>
    private readonly List<(object Consumer, Type Message)> consumed = [];

    public void ConsumerConfigured<TConsumer>(IConsumerConfigurator<TConsumer> configurator)
        where TConsumer : class
    {
        if (Array.Exists(typeof(TConsumer).GetInterfaces(), one => one.IsGenericType && one.GetGenericTypeDefinition() == typeof(IJobConsumer<>)))
        {
            throw new NotSupportedException(
                $"MassTransit cannot run job consumer {typeof(TConsumer).Name} in {TransactionMode.DtcOff}: it acknowledges the message before the job ends, " +
                $"and a scope would end with that. Do the work in a consumer, or use {TransactionMode.ScopeOff}.");
        }
    }

    public void ConsumerMessageConfigured<TConsumer, TMessage>(IConsumerMessageConfigurator<TConsumer, TMessage> configurator)
        where TConsumer : class
        where TMessage : class
    {
        RequireAlone(typeof(TConsumer), typeof(TMessage));
        configurator.Message(message => message.UseFilter(new TransactionScopeFilter<TMessage>(settings)));
    }

    public void SagaConfigured<TSaga>(ISagaConfigurator<TSaga> configurator)
        where TSaga : class, ISaga
    {
    }

    public void StateMachineSagaConfigured<TInstance>(ISagaConfigurator<TInstance> configurator, SagaStateMachine<TInstance> stateMachine)
        where TInstance : class, ISaga, SagaStateMachineInstance
    {
    }

    public void SagaMessageConfigured<TSaga, TMessage>(ISagaMessageConfigurator<TSaga, TMessage> configurator)
        where TSaga : class, ISaga
        where TMessage : class
    {
        RequireAlone(typeof(TSaga), typeof(TMessage));
        configurator.Message(message => message.UseFilter(new TransactionScopeFilter<TMessage>(settings)));
    }

    public void HandlerConfigured<TMessage>(IHandlerConfigurator<TMessage> configurator)
        where TMessage : class
    {
        RequireAlone(configurator, typeof(TMessage));
        configurator.UseFilter(new TransactionScopeFilter<TMessage>(settings));
    }

    public void ActivityConfigured<TActivity, TArguments>(IExecuteActivityConfigurator<TActivity, TArguments> configurator, Uri compensateAddress)
        where TActivity : class, IExecuteActivity<TArguments>
        where TArguments : class =>
        throw Refused<TActivity>();

    public void ExecuteActivityConfigured<TActivity, TArguments>(IExecuteActivityConfigurator<TActivity, TArguments> configurator)
        where TActivity : class, IExecuteActivity<TArguments>
        where TArguments : class =>
        throw Refused<TActivity>();

    public void CompensateActivityConfigured<TActivity, TLog>(ICompensateActivityConfigurator<TActivity, TLog> configurator)
        where TActivity : class, ICompensateActivity<TLog>
        where TLog : class =>
        throw Refused<TActivity>();

    /// <summary>
    /// MassTransit runs the consumers of a message at the same time, and retries all of them when one throws: another one's scope would have committed, and
    /// would commit again. One scope around them would be a two-phase commit of their connections, which nothing recovers.
    /// </summary>
    private void RequireAlone(object consumer, Type consumes)
    {
        var message = consumes.IsGenericType && consumes.GetGenericTypeDefinition() == typeof(Batch<>) ? consumes.GetGenericArguments()[0] : consumes;
        if (consumed.FirstOrDefault(one => one != (consumer, message) && (one.Message.IsAssignableFrom(message) || message.IsAssignableFrom(one.Message)))
            is { Message: { } other })
        {
            throw new NotSupportedException(
                $"MassTransit cannot run two consumers of one message in {TransactionMode.DtcOff} on one endpoint, and found a second one for {message.Name}" +
                (other == message ? "" : $", which can be {other.Name}, too") +
                ": if one of them throws, both are called again, and the other's rows have committed. Give each its own endpoint.");
        }

        consumed.Add((consumer, message));
    }

    private static NotSupportedException Refused<TActivity>() => new(
        $"MassTransit cannot run activity {typeof(TActivity).Name} in {TransactionMode.DtcOff}: it turns an activity's exception into a fault of the routing " +
        $"slip, so that a scope around the activity would commit. Do the work in a consumer, or use {TransactionMode.ScopeOff}.");
}
