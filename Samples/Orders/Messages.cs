namespace Orders;

public sealed record PlaceOrder(Guid OrderId);
