using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

public sealed class RabbitMqBinariesTests
{
    private TemporaryFolder machine = null!;

    [SetUp]
    public void MakeMachine()
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The invented programs have no extension.");
        machine = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveMachine() => machine?.Dispose();

    [Test]
    public void A_machine_without_them_is_told_how_to_install() =>
        Assert.That(
            () => RabbitMqBinaries.NewestIn([machine.Path]),
            Throws.InstanceOf<KitException>()
                .With.Message.Contains("rabbitmq-server")
                .And.Property(nameof(KitException.Remedy)).Contains("nstall").And.Property(nameof(KitException.Remedy)).Contains("KIT_RABBITMQ"));

    [Test]
    public void The_newest_of_several_wins_by_number()
    {
        IgnoreWithoutErlang();

        var newest = RabbitMqBinaries.NewestIn([Install("old", "rabbit-3.9.29"), Install("new", "rabbit-3.13.7.ez"), Install("older", "rabbit-3.8.2")]);

        Assert.Multiple(() =>
        {
            Assert.That(newest.Version, Is.EqualTo(new Version(3, 13, 7)));
            Assert.That(newest.Folder, Is.EqualTo(Path.Combine(machine.Path, "new", "sbin")));
        });
    }

    [Test]
    public void A_link_leads_to_the_scripts_themselves()
    {
        IgnoreWithoutErlang();
        var scripts = Install("server", "rabbit-4.0.5");
        var links = Directory.CreateDirectory(Path.Combine(machine.Path, "bin")).FullName;
        File.CreateSymbolicLink(Path.Combine(links, "rabbitmq-server"), Path.Combine(scripts, "rabbitmq-server"));

        Assert.That(RabbitMqBinaries.NewestIn([links]).Folder, Is.EqualTo(scripts));
    }

    [Test]
    public void A_wrapper_is_passed_over()
    {
        var scripts = Install("server", "rabbit-4.0.5");
        File.Move(Path.Combine(scripts, "rabbitmq-server"), Path.Combine(scripts, "rabbitmq-script-wrapper"));
        File.CreateSymbolicLink(Path.Combine(scripts, "rabbitmq-server"), Path.Combine(scripts, "rabbitmq-script-wrapper"));

        Assert.That(() => RabbitMqBinaries.NewestIn([scripts]), Throws.InstanceOf<KitException>());
    }

    private static void IgnoreWithoutErlang()
    {
        if (ExternalProgram.OnSearchPath("epmd") is null && ExternalProgram.OnSearchPath("erl") is null)
            Assert.Ignore("This machine has no Erlang.");
    }

    private string Install(string name, string plugin)
    {
        var home = Path.Combine(machine.Path, name);
        var scripts = Directory.CreateDirectory(Path.Combine(home, "sbin")).FullName;
        File.WriteAllText(Path.Combine(scripts, "rabbitmq-server"), "");
        foreach (var other in new[] { plugin, "rabbit_common-9.9.9", "rabbitmq_management-9.9.9" })
            Directory.CreateDirectory(Path.Combine(home, "plugins", other));
        return scripts;
    }
}
