using Kit.Modes;
using NServiceBus;
using NServiceBus.Configuration.AdvancedExtensibility;
using NServiceBus.Features;
using NServiceBus.Settings;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus;

/// <summary>The transaction mode of an endpoint, and the settings that it depends on. If they are changed later, the endpoint does not start.</summary>
internal sealed class ChosenMode
{
    // NServiceBus's own key for the arguments of WrapHandlersInATransactionScope (10.2.8).
    private const string Wrap = "NServiceBus.Features.TransactionScopeUnitOfWork+Settings";

    private readonly TransactionMode mode;
    private readonly TransportDefinition transport;
    private readonly TransportTransactionMode transportMode;
    private readonly object? wrap;

    private ChosenMode(TransactionMode mode, TransportDefinition transport, object? wrap)
    {
        this.mode = mode;
        this.transport = transport;
        transportMode = transport.TransportTransactionMode;
        this.wrap = wrap;
    }

    /// <exception cref="InvalidOperationException">The endpoint already has a mode, or a wrap that the mode did not set.</exception>
    public static void RequireNone(EndpointConfiguration endpoint)
    {
        var settings = endpoint.GetSettings();
        if (settings.TryGet<ChosenMode>(out var chosen))
            throw new InvalidOperationException($"The endpoint already has the transaction mode {chosen.mode}: call UseTransactionMode only once.");
        if (WrapIn(settings) is not null)
            throw WrappedByHand();
    }

    /// <summary>Stores what was set for the mode. It is compared when the endpoint is added to a host and when it starts.</summary>
    public static void Keep(EndpointConfiguration endpoint, TransactionMode mode, TransportDefinition transport)
    {
        var settings = endpoint.GetSettings();
        if (mode == TransactionMode.DtcOff && WrapIn(settings) is null)
        {
            throw new NotSupportedException(
                $"NServiceBus {typeof(EndpointConfiguration).Assembly.GetName().Version} does not store its wrap under '{Wrap}' as 10.2.8 does, " +
                "so the endpoint could not detect a wrap that was changed by hand. Use a version that the kit supports.");
        }

        settings.Set(new ChosenMode(mode, transport, WrapIn(settings)));
        endpoint.EnableFeature<Check>();
    }

    private void RequireIn(IReadOnlySettings settings)
    {
        if (settings.Get<TransportDefinition>() is var used && used != transport)
        {
            throw new InvalidOperationException(
                $"The endpoint's transport ({used.GetType().Name}) is not the one that was passed to UseTransactionMode ({transport.GetType().Name}): " +
                "do not call UseTransport.");
        }

        if (transport.TransportTransactionMode != transportMode)
        {
            throw new InvalidOperationException(
                $"The transport's mode was set to {transport.TransportTransactionMode} after UseTransactionMode, but {mode} needs {transportMode}: " +
                "do not set TransportTransactionMode.");
        }

        if (WrapIn(settings) != wrap)
            throw WrappedByHand();

        // Enabled until it is set up, and then active.
        if (mode == TransactionMode.Outbox && !settings.IsFeatureEnabled<Outbox>() && !settings.IsFeatureActive<Outbox>())
        {
            throw new InvalidOperationException(
                $"NServiceBus's outbox was disabled after UseTransactionMode, and {mode} needs it: do not disable the feature.");
        }
    }

    private static object? WrapIn(IReadOnlySettings settings) => settings.HasSetting(Wrap) ? settings.Get(Wrap) : null;

    private static InvalidOperationException WrappedByHand() =>
        new("The transaction mode decides whether handlers are wrapped in a TransactionScope: do not call WrapHandlersInATransactionScope.");

    internal sealed class Check : Feature
    {
        protected override void Setup(FeatureConfigurationContext context)
        {
            var chosen = context.Settings.Get<ChosenMode>();
            chosen.RequireIn(context.Settings);
            context.RegisterStartupTask(new AtStart(chosen, context.Settings));
        }
    }

    /// <summary>Checks again at the start, because the user can change the transport until the endpoint receives.</summary>
    private sealed class AtStart(ChosenMode chosen, IReadOnlySettings settings) : FeatureStartupTask
    {
        protected override Task OnStart(IMessageSession session, CancellationToken cancellationToken = default)
        {
            chosen.RequireIn(settings);
            return Task.CompletedTask;
        }

        protected override Task OnStop(IMessageSession session, CancellationToken cancellationToken = default) => Task.CompletedTask;
    }
}
