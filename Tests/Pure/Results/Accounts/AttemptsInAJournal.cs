using Kit.Runner.Results.Accounts;

namespace Kit.Tests.Results.Accounts;

/// <summary>The journal of attempts: whole, and with a line torn as a kill tears it.</summary>
public sealed class AttemptsInAJournal
{
    private static readonly AttemptLine[] Lines =
    [
        new(InventedHistory.Message(1), InventedHistory.Attempt(1, 1), AttemptPoint.Started, []),
        new(InventedHistory.Message(1), InventedHistory.Attempt(1, 1), AttemptPoint.BeforeInsert, [new Backend(17)]),
        new(InventedHistory.Message(1), InventedHistory.Attempt(1, 1), AttemptPoint.AfterFirstInsert, [new Backend(17, 4_294_967_295), new Backend(18)]),
    ];

    private TemporaryFolder folder = null!;

    private string Journal => folder.Below("attempts");

    [SetUp]
    public void CreateFolder() => folder = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => folder.Dispose();

    [Test]
    public void Are_read_as_they_were_written_one_line_each()
    {
        Write(Lines);

        using (Assert.EnterMultipleScope())
        {
            AssertRead(Lines);
            Assert.That(File.ReadAllLines(Journal), Has.Length.EqualTo(3));
            Assert.That(File.ReadAllLines(Journal)[2], Is.EqualTo(
                """
                {"messageId":"00000001-0000-0000-0000-000000000000","attemptId":"00000001-0001-0001-0000-000000000000",
                "point":"after-first-insert","backends":[{"processId":17,"transactionId":4294967295},{"processId":18}]}
                """.ReplaceLineEndings("")));
        }
    }

    [Test]
    public void Are_read_while_they_are_written()
    {
        using var journal = new AttemptJournal(Journal);
        AssertRead();

        journal.Write(Lines[0]);
        AssertRead(Lines[0]);

        journal.Write(Lines[1]);
        AssertRead(Lines[0], Lines[1]);
    }

    [Test]
    public void Are_read_but_for_a_last_line_torn_anywhere()
    {
        Write(Lines);
        var whole = File.ReadAllBytes(Journal);
        var lastLine = whole.AsSpan()[..^1].LastIndexOf((byte)'\n') + 1;

        for (var length = lastLine; length < whole.Length; length++)
        {
            File.WriteAllBytes(Journal, whole[..length]);
            AssertRead(Lines[0], Lines[1]);
        }
    }

    [Test]
    public void Are_followed_by_those_of_the_next_process_wherever_the_last_line_was_torn()
    {
        Write(Lines);
        var whole = File.ReadAllBytes(Journal);
        var lastLine = whole.AsSpan()[..^1].LastIndexOf((byte)'\n') + 1;

        for (var length = lastLine; length < whole.Length - 1; length++)
        {
            File.WriteAllBytes(Journal, whole[..length]);
            Write(Lines[0]);
            AssertRead(Lines[0], Lines[1], Lines[0]);
        }
    }

    [Test]
    public void Are_not_read_past_a_line_that_no_kill_explains()
    {
        Write(Lines);
        var lines = File.ReadAllLines(Journal);
        foreach (var damaged in new[] { lines[0][..40], "null", "{}", "17" })
        {
            File.WriteAllLines(Journal, [lines[0], damaged, lines[2]]);
            Assert.That(
                () => AttemptJournal.Read(Journal),
                Throws.InstanceOf<FormatException>().With.Message.Contains($"line 2: expected an attempt, found '{damaged}'"));

            File.WriteAllLines(Journal, [lines[0], damaged]);
            Assert.That(() => AttemptJournal.Read(Journal), Throws.InstanceOf<FormatException>());
        }
    }

    [Test]
    public void Are_no_attempts_where_nobody_opened_the_journal() =>
        Assert.That(() => AttemptJournal.Read(Journal), Throws.InstanceOf<FileNotFoundException>());

    [Test]
    public void Are_whole_lines_whatever_threads_write_them()
    {
        using (var journal = new AttemptJournal(Journal))
            Parallel.For(1, 1_001, number => journal.Write(Lines[2] with { MessageId = InventedHistory.Message(number) }));

        Assert.That(
            AttemptJournal.Read(Journal).Select(line => line.MessageId).Order(),
            Is.EqualTo(Enumerable.Range(1, 1_000).Select(InventedHistory.Message)));
    }

    private void Write(params AttemptLine[] lines)
    {
        using var journal = new AttemptJournal(Journal);
        foreach (var line in lines)
            journal.Write(line);
    }

    private void AssertRead(params AttemptLine[] expected)
    {
        var read = AttemptJournal.Read(Journal);
        Assert.That(read.Select(Text), Is.EqualTo(expected.Select(Text)));
    }

    private static string Text(AttemptLine line) => $"{line.MessageId} {line.AttemptId} {line.Point} {string.Join(' ', line.Backends)}";
}
