using Kit.Runner.Results.Accounts;

namespace Kit.Tests.Faults;

/// <summary>A process that writes its journal as fast as it can and tells each line when it is written, until it is killed.</summary>
internal static class JournallingProcess
{
    public const string Command = "journalling-process";

    public static int Run(string path, TextReader input, TextWriter output)
    {
        // A killed test leaves no process behind.
        var ended = Task.Run(input.ReadToEnd);
        using var journal = new AttemptJournal(path);
        while (!ended.IsCompleted)
        {
            var line = new AttemptLine(Guid.NewGuid(), Guid.NewGuid(), AttemptPoint.AfterFirstInsert, [new Backend(Environment.ProcessId)]);
            journal.Write(line);
            output.WriteLine(line.AttemptId);
        }

        return 0;
    }
}
