namespace Kit.Handlers;

/// <summary>The engine that compiles the stylesheet to code, and compiles it for each message.</summary>
/// <param name="stylesheet">What it does.</param>
public sealed class RecompiledOrderTransform(string stylesheet = OrderStylesheet.Text) : IOrderTransform
{
    /// <inheritdoc/>
    /// <exception cref="StylesheetException">The stylesheet does not compile.</exception>
    public string Transform(string order) => new CompiledOrderTransform(stylesheet).Transform(order);
}
