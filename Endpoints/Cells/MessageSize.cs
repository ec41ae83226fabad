using System.Globalization;
using Kit.Handlers;

namespace Kit.Endpoints.Cells;

/// <summary>The size of the messages of a round.</summary>
public sealed record MessageSize(string Name, string What)
{
    /// <summary>The default: a message has its id alone.</summary>
    public static MessageSize IdAlone { get; } = new("id-alone", "a message has its id alone, about 50 bytes");

    public static IReadOnlyList<MessageSize> All { get; } = [IdAlone, Padded(512), Padded(1_024), Padded(5_120), Padded(51_200)];

    private const string Bytes = "B";

    /// <summary>The letters that a message has besides its id, or in its document; <see langword="null"/>: none, or as many as the document needs.</summary>
    public int? Letters { get; private init; }

    private string? Padding { get; init; }

    /// <summary>A message of this size with an id of its own.</summary>
    public BuildWidget NewMessage() => new(Guid.CreateVersion7()) { Padding = Padding };

    /// <summary>A size as its name has it: bytes can be typed with or without their unit.</summary>
    public static string Read(string typed) => typed.Length > 0 && typed.All(char.IsAsciiDigit) ? $"{typed}{Bytes}" : typed;

    private static MessageSize Padded(int bytes)
    {
        var number = bytes.ToString(CultureInfo.InvariantCulture);
        return new MessageSize(
            $"{number}{Bytes}", $"a message also has {number} random letters, which the transport stores and the endpoint reads, and no handler uses")
        {
            Letters = bytes,
            Padding = RandomLetters.Of(bytes),
        };
    }
}
