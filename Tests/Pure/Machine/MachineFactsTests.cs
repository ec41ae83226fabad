using Kit.Runner.Servers.Machine;

namespace Kit.Tests.Machine;

public sealed class MachineFactsTests
{
    [Test]
    public void The_processor_is_named_by_its_model() =>
        Assert.That(MachineFacts.CpuModelIn("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Xeon: the second\n"), Is.EqualTo("Xeon: the second"));

    [Test]
    public void A_processor_without_a_model_is_unknown() =>
        Assert.That(MachineFacts.CpuModelIn("processor\t: 0\nBogoMIPS\t: 50.00\n"), Is.EqualTo("unknown"));

    [Test]
    public void Available_memory_is_read_in_bytes() =>
        Assert.That(MachineFacts.AvailableMemoryIn("MemTotal:  2048 kB\nMemAvailable:     1024 kB\n"), Is.EqualTo(1L << 20));

    [Test]
    public void Available_memory_of_an_old_kernel_is_not_known() =>
        Assert.That(MachineFacts.AvailableMemoryIn("MemTotal:  2048 kB\n"), Is.Null);

    [Test]
    public void This_machine_can_be_read()
    {
        var machine = MachineFacts.Read();

        Assert.Multiple(() =>
        {
            Assert.That(machine.Cores, Is.Positive);
            Assert.That(machine.TotalMemoryBytes, Is.Positive);
            Assert.That(machine.Runtime, Does.StartWith(".NET 10"));
        });
    }

    [Test]
    public void A_folder_that_is_not_made_yet_is_on_its_parents_disk() =>
        Assert.That(MachineFacts.FreeDiskBytes(Path.Combine(Path.GetTempPath(), "not", "made")), Is.Positive);
}
