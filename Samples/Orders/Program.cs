using Orders;

try
{
    await using var application = new OrdersApplication(args);
    if (application.Only is { } only)
    {
        await application.SendAsync(only, CancellationToken.None);
        return 0;
    }

    await application.StartAsync(CancellationToken.None);
    if (application.SendsAtStart)
    {
        var order = new PlaceOrder(Guid.CreateVersion7());
        await application.SendAsync(order, CancellationToken.None);
        Console.WriteLine($"order {order.OrderId}: sent. Ctrl+C stops the endpoint.");
    }

    await application.WaitForShutdownAsync(CancellationToken.None);
    return 0;
}
catch (SettingsException wrong)
{
    await Console.Error.WriteLineAsync($"error: {wrong.Message}");
    return 2;
}
