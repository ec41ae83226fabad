using Kit.Runner.Servers.Machine;

namespace Kit.Tests.Machine;

public sealed class ProcessStatTests
{
    [Test]
    public void A_process_is_read()
    {
        const string Text = "4321 (postgres) S 4300 4321 4321 0 -1 4194560 1 2 3 4 50 7 60 8 20 0 1 0 98765 1 2 3\n";

        Assert.That(ProcessStat.Parse(Text), Is.EqualTo(new ProcessStat(4321, "postgres", 'S', 4300, false, Own: 57, Reaped: 68, Started: 98765)));
    }

    [TestCase("tmux: server")]
    [TestCase("a) R 1 (b")]
    [TestCase("(sd-pam)")]
    [TestCase(")")]
    [TestCase("")]
    public void A_name_may_hold_anything(string name) =>
        Assert.That(
            ProcessStat.Parse($"7 ({name}) R 1 7 7 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5 6"),
            Is.EqualTo(new ProcessStat(7, name, 'R', 1, false, 3, 7, 5)));

    [Test]
    public void A_kernel_thread_is_told_by_its_flag() =>
        Assert.That(ProcessStat.Parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 20 0").IsKernelThread, Is.True);

    [Test]
    public void A_zombie_is_told_by_its_state() =>
        Assert.That(ProcessStat.Parse("9 (gone) Z 1 0 0 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 20 0").IsZombie, Is.True);

    [TestCase("")]
    [TestCase("12")]
    [TestCase("12 (cut) S 1 2")]
    public void Another_text_is_refused(string text) => Assert.That(() => ProcessStat.Parse(text), Throws.InstanceOf<FormatException>());
}
