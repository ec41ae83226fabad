using Kit.Endpoints.Cells;
using Kit.Endpoints.NServiceBus;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using NServiceBus;

namespace Kit.Tests.NServiceBus;

/// <summary>A handler in <c>shared</c> that works on a connection of its own, as in <c>scope-off</c>: the mode is not weaker than its name and says nothing.</summary>
public sealed class HandlerLeavesTheReceiveAlone
{
    [Test]
    public async Task Its_message_is_given_up_with_the_reason()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var queue = new NServiceBusOnPostgreSql().OpenQueue("alone", databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        var message = new BuildWidget(Guid.CreateVersion7());
        await queue.PreloadAsync([message], CancellationToken.None);
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        var endpoint = new EndpointConfiguration("alone");
        endpoint.UsePostgreSql(databases.Widgets, TransactionMode.Shared, errorQueue: "alone_error");
        endpoint.Conventions().DefiningCommandsAs(type => type == typeof(BuildWidget));
        endpoint.AddHandler<Handler>();
        application.Services.AddNServiceBusEndpoint(endpoint);
        using var host = application.Build();
        await host.StartAsync();

        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count > 0, "the message is given up");

        await host.StopAsync();
        Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Single().Reason, Does.Contain("Handler did not take the receive's transaction"));
    }

    // Not private: NServiceBus generates code that names it.
    internal sealed class Handler : IHandleMessages<BuildWidget>
    {
        public Task Handle(BuildWidget message, IMessageHandlerContext context) => Task.CompletedTask;
    }
}
