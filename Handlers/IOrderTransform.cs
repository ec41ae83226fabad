namespace Kit.Handlers;

/// <summary>Makes a shipment of an order, in one of several ways that all make the same document.</summary>
public interface IOrderTransform
{
    /// <param name="order">An order in XML.</param>
    /// <returns>The shipment, in XML without a declaration.</returns>
    /// <exception cref="System.Xml.XmlException">It is no XML.</exception>
    string Transform(string order);
}
