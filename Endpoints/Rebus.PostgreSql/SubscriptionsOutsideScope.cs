using Rebus.Subscriptions;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>
/// Reads subscriptions outside the handler's scope. Rebus enlists its connections in the ambient transaction, and a second enlistment would make the scope a
/// two-phase commit, which nothing recovers after a crash.
/// </summary>
internal sealed class SubscriptionsOutsideScope(ISubscriptionStorage storage) : ISubscriptionStorage
{
    public bool IsCentralized => storage.IsCentralized;

    public Task<IReadOnlyList<string>> GetSubscriberAddresses(string topic) => OutsideScope.RunAsync(() => storage.GetSubscriberAddresses(topic));

    public Task RegisterSubscriber(string topic, string subscriberAddress) => OutsideScope.RunAsync(async () =>
    {
        await storage.RegisterSubscriber(topic, subscriberAddress);
        return true;
    });

    public Task UnregisterSubscriber(string topic, string subscriberAddress) => OutsideScope.RunAsync(async () =>
    {
        await storage.UnregisterSubscriber(topic, subscriberAddress);
        return true;
    });
}
