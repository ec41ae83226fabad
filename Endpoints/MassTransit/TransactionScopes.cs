using Kit.Modes;
using MassTransit;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// Adds a <see cref="TransactionScopeFilter{TMessage}"/> to each consumer, saga and handler that is configured later, and refuses activities.
/// </summary>
internal sealed class TransactionScopes(TransactionSettings settings)
    : IConsumerConfigurationObserver, ISagaConfigurationObserver, IHandlerConfigurationObserver, IActivityConfigurationObserver
{
    public void ConsumerConfigured<TConsumer>(IConsumerConfigurator<TConsumer> configurator)
        where TConsumer : class
    {
    }

    public void ConsumerMessageConfigured<TConsumer, TMessage>(IConsumerMessageConfigurator<TConsumer, TMessage> configurator)
        where TConsumer : class
        where TMessage : class =>
        configurator.Message(message => message.UseFilter(new TransactionScopeFilter<TMessage>(settings)));

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
        where TMessage : class =>
        configurator.Message(message => message.UseFilter(new TransactionScopeFilter<TMessage>(settings)));

    public void HandlerConfigured<TMessage>(IHandlerConfigurator<TMessage> configurator)
        where TMessage : class =>
        configurator.UseFilter(new TransactionScopeFilter<TMessage>(settings));

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

    private static NotSupportedException Refused<TActivity>() => new(
        $"MassTransit cannot run activity {typeof(TActivity).Name} in {TransactionMode.DtcOff}: it turns an activity's exception into a fault of the routing " +
        $"slip, so that a scope around the activity would commit. Do the work in a consumer, or use {TransactionMode.ScopeOff}.");
}
