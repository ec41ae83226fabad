using Orders;

try
{
    await using var application = new OrdersApplication(args);
    await application.StartAsync(CancellationToken.None);
    await application.SendAsync(new PlaceOrder(Guid.CreateVersion7()), CancellationToken.None);
    await application.WaitForShutdownAsync(CancellationToken.None);
    return 0;
}
catch (SettingsException wrong)
{
    await Console.Error.WriteLineAsync($"error: {wrong.Message}");
    return 2;
}
