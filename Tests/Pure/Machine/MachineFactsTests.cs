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

    [TestCase("", "", 2 << 20, 1 << 20, Description = "No control groups.")]
    [TestCase("max\n", "400000\n", 2 << 20, 1 << 20)]
    [TestCase("1572864\n", "1048576\n", 3 << 19, 1 << 19, Description = "A container with a limit.")]
    [TestCase("9223372036854771712\n", "4096\n", 2 << 20, 1 << 20, Description = "No limit, in version 1.")]
    public void Memory_is_that_of_the_container_in_bytes(string limit, string used, long total, long available)
    {
        const string meminfo = "MemTotal:  2048 kB\nMemAvailable:     1024 kB\n";

        Assert.That(MachineFacts.TotalMemoryIn(meminfo, limit), Is.EqualTo(total));
        Assert.That(MachineFacts.AvailableMemoryIn(meminfo, limit, used), Is.EqualTo(available));
    }

    [Test]
    public void Available_memory_of_an_old_kernel_is_not_known() =>
        Assert.That(MachineFacts.AvailableMemoryIn("MemTotal:  2048 kB\n", "max", "0"), Is.Null);

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
