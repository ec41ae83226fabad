using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

public sealed class PostgreSqlBinariesTests
{
    private TemporaryFolder machine = null!;

    [SetUp]
    public void MakeMachine() => machine = new TemporaryFolder();

    [TearDown]
    public void RemoveMachine() => machine.Dispose();

    [Test]
    public async Task A_machine_without_them_is_told_how_to_install() =>
        await Assert.ThatAsync(
            () => PostgreSqlBinaries.NewestInAsync([machine.Path], CancellationToken.None),
            Throws.InstanceOf<KitException>()
                .With.Message.Contains("initdb, pg_ctl, postgres")
                .And.Property(nameof(KitException.Remedy)).Contains("nstall").And.Property(nameof(KitException.Remedy)).Contains("KIT_POSTGRESQL"));

    [Test]
    public async Task The_newest_of_several_wins_by_number()
    {
        var newest = await PostgreSqlBinaries.NewestInAsync(
            [Install("9", "9.6.24"), Install("14", "14.9"), Install("14-later", "14.10 (Debian 14.10-1)"), Install("13", "13.20")], CancellationToken.None);

        Assert.That(newest, Is.EqualTo(new PostgreSqlBinaries(Path.Combine(machine.Path, "14-later"), new Version(14, 10))));
    }

    [Test]
    public async Task A_beta_counts_as_its_version() =>
        Assert.That(
            (await PostgreSqlBinaries.NewestInAsync([Install("beta", "19beta2")], CancellationToken.None)).Version, Is.EqualTo(new Version(19, 0)));

    [Test]
    public async Task A_folder_that_lacks_a_program_is_passed_over()
    {
        var client = Install("client", "17.1");
        File.Delete(Path.Combine(client, "initdb"));

        var newest = await PostgreSqlBinaries.NewestInAsync([client, Install("server", "15.2")], CancellationToken.None);

        Assert.That(newest.Version, Is.EqualTo(new Version(15, 2)));
    }

    [Test]
    public async Task Too_old_ones_are_named() =>
        await Assert.ThatAsync(
            () => PostgreSqlBinaries.NewestInAsync([Install("old", "12.22")], CancellationToken.None),
            Throws.InstanceOf<KitException>().With.Message.Contains("13 or newer").And.Message.Contains("12.22"));

    private string Install(string name, string version)
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("The invented programs are shell scripts.");
        var folder = Directory.CreateDirectory(Path.Combine(machine.Path, name)).FullName;
        foreach (var program in new[] { "initdb", "pg_ctl", "postgres" })
        {
            var file = Path.Combine(folder, program);
            File.WriteAllText(file, $"#!/bin/sh\necho '{program} (PostgreSQL) {version}'\n");
            if (!OperatingSystem.IsWindows())
                File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        }

        return folder;
    }
}
