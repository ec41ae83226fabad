using System.Buffers.Binary;
using System.Text;

namespace Kit.Tests.Faults.Points;

/// <summary>Frames of PostgreSQL's protocol, as both sides send them.</summary>
internal static class PostgreSqlFrames
{
    public static byte[] Ready(char status = 'I') => Frame('Z', [(byte)status]);

    public static byte[] Complete(string tag) => Frame('C', Text(tag));

    public static byte[] Error(string code) => Frame('E', [(byte)'S', .. Text("ERROR"), (byte)'C', .. Text(code), 0]);

    public static byte[] Notice() => Frame('N', [(byte)'S', .. Text("NOTICE"), 0]);

    public static byte[] CopyIn() => Frame('G', [0, 0, 0]);

    public static byte[] CopyBoth() => Frame('W', [0, 0, 0]);

    public static byte[] Close(string name) => Frame('C', [(byte)'S', .. Text(name)]);

    public static byte[] Query(string text) => Frame('Q', Text(text));

    public static byte[] Parse(string text, string name = "") => Frame('P', [.. Text(name), .. Text(text), 0, 0]);

    public static byte[] Bind(string name = "") => Frame('B', [.. Text(""), .. Text(name), 0, 0, 0, 0, 0, 0]);

    public static byte[] Describe() => Frame('D', [(byte)'P', 0]);

    public static byte[] Execute() => Frame('E', [.. Text(""), 0, 0, 0, 0]);

    public static byte[] Flush() => Frame('H', []);

    public static byte[] Sync() => Frame('S', []);

    public static byte[] Data(string data) => Frame('d', Encoding.ASCII.GetBytes(data));

    public static byte[] CopyDone() => Frame('c', []);

    public static byte[] Terminate() => Frame('X', []);

    /// <summary>A statement of the extended protocol, without the end of its batch.</summary>
    public static byte[] Statement(string text) => [.. Parse(text), .. Bind(), .. Describe(), .. Execute()];

    public static byte[] SslRequest() => Start(80_877_103);

    public static byte[] GssEncRequest() => Start(80_877_104);

    public static byte[] CancelRequest() => Start(80_877_102, [0, 0, 0, 1, 0, 0, 0, 2]);

    /// <summary>The start of a connection, and its server's answer.</summary>
    public static byte[] Startup() => Start(196_608, [.. Text("user"), .. Text("kit"), 0]);

    public static byte[] Welcome() => [.. Frame('R', [0, 0, 0, 0]), .. Frame('S', [.. Text("TimeZone"), .. Text("UTC")]), .. Ready()];

    /// <summary>The server asks for a password.</summary>
    public static byte[] AskForPassword() => Frame('R', [0, 0, 0, 3]);

    public static byte[] Password() => Frame('p', Text("secret"));

    private static byte[] Start(int code, byte[]? body = null)
    {
        var frame = new byte[8 + (body?.Length ?? 0)];
        BinaryPrimitives.WriteInt32BigEndian(frame, frame.Length);
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(4), code);
        body?.CopyTo(frame, 8);
        return frame;
    }

    private static byte[] Frame(char type, byte[] body)
    {
        byte[] frame = [(byte)type, 0, 0, 0, 0, .. body];
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(1), body.Length + 4);
        return frame;
    }

    private static byte[] Text(string text) => [.. Encoding.UTF8.GetBytes(text), 0];
}
