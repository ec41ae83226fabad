using System.Text;

namespace Kit.Endpoints.Bare;

/// <summary>A name that every transport can carry: AMQP's short strings have at most 255 bytes.</summary>
internal static class ShortName
{
    private const int MostBytes = 255;

    public static bool Fits(string name) => Encoding.UTF8.GetByteCount(name) <= MostBytes;

    /// <exception cref="ArgumentException">It is longer.</exception>
    public static void Require(string name, string what)
    {
        if (!Fits(name))
            throw new ArgumentException($"{what} may have at most {MostBytes} bytes in UTF-8, found {Encoding.UTF8.GetByteCount(name)}: {name}", nameof(name));
    }
}
