using Kit.Modes;
using MassTransit;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// Adds a <see cref="TransactionScopeFilter{TMessage}"/> to each consumer, saga and handler that is configured later.
/// </summary>
internal sealed class TransactionScopes(TransactionSettings settings)
    : IConsumerConfigurationObserver, ISagaConfigurationObserver, IHandlerConfigurationObserver
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
}
