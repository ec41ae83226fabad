namespace Orders;

internal sealed record PlaceOrder(Guid OrderId);
