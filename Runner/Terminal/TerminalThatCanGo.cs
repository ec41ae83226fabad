using System.Text;

namespace Kit.Runner.Terminal;

/// <summary>
/// A terminal that can be closed while a command runs. Later output is dropped, so that the command can still stop its servers and keep what
/// it has measured. A file or a pipe is not wrapped: whoever reads it must learn that something is missing.
/// </summary>
internal sealed class TerminalThatCanGo(TextWriter terminal) : TextWriter
{
    public override Encoding Encoding => terminal.Encoding;

    /// <summary>Wraps standard output and standard error, as far as they are a terminal.</summary>
    public static void WrapConsole()
    {
        if (!Console.IsOutputRedirected)
            Console.SetOut(new TerminalThatCanGo(Console.Out));
        if (!Console.IsErrorRedirected)
            Console.SetError(new TerminalThatCanGo(Console.Error));
    }

    public override void Write(char value) => Try(() => terminal.Write(value));

    public override void Write(char[] buffer, int index, int count) => Try(() => terminal.Write(buffer, index, count));

    public override void Write(string? value) => Try(() => terminal.Write(value));

    public override void WriteLine(string? value) => Try(() => terminal.WriteLine(value));

    public override void Flush() => Try(terminal.Flush);

    private static void Try(Action write)
    {
        try
        {
            write();
        }
        catch (IOException)
        {
            // It was closed, and SIGHUP stops the command.
            return;
        }
    }
}
