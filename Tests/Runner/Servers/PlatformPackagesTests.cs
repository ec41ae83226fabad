using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

/// <summary>Installing with invented package managers: programs that every machine with the .NET SDK has.</summary>
public sealed class PlatformPackagesTests
{
    private static readonly PackageManager Succeeding = new("dotnet", [], ["--version", "--"], NeedsRoot: false);
    private static readonly PackageManager Failing = new("dotnet", [], ["no-such-command"], NeedsRoot: false);

    private readonly StringWriter output = new();
    private bool present;

    [SetUp]
    public void Clear()
    {
        output.GetStringBuilder().Clear();
        present = false;
    }

    [OneTimeTearDown]
    public void DisposeOutput() => output.Dispose();

    [Test]
    public async Task What_is_present_is_not_installed()
    {
        present = true;

        await InstallAsync(Failing);

        Assert.That(output.ToString(), Is.EqualTo($"Store is installed.{Environment.NewLine}"));
    }

    [Test]
    public async Task The_command_is_said_before_it_runs_and_a_failure_has_its_exit_code()
    {
        await Assert.ThatAsync(
            () => InstallAsync(Failing),
            Throws.InstanceOf<KitException>().With.Message.EqualTo("Installing Store failed: 'dotnet no-such-command store' ended with exit code 1."));

        Assert.That(output.ToString(), Is.EqualTo($"Store is missing. Running: dotnet no-such-command store{Environment.NewLine}"));
    }

    [Test]
    public async Task A_program_that_is_still_not_found_is_said() =>
        await Assert.ThatAsync(() => InstallAsync(Succeeding), Throws.InstanceOf<KitException>().With.Message.Contains("were not found in the usual folders"));

    [Test]
    public async Task An_unknown_package_manager_lists_the_known_ones() =>
        await Assert.ThatAsync(
            () => InstallAsync(manager: null),
            Throws.InstanceOf<KitException>().With.Property(nameof(KitException.Remedy)).Contains("apt-get, dnf, apk, pacman, zypper, brew, winget"));

    [Test]
    public async Task A_manager_without_the_package_is_said() =>
        await Assert.ThatAsync(
            () => InstallAsync(new PackageManager("other", [], [], NeedsRoot: false)),
            Throws.InstanceOf<KitException>().With.Message.Contains("no other package of it"));

    [Test]
    public void Lists_are_refreshed_first_where_the_manager_needs_it()
    {
        var apt = PackageManager.All[0];

        var commands = apt.CommandsFor("postgresql").Select(command => string.Join(' ', command.SkipWhile(word => word is "sudo")));

        Assert.That(commands, Is.EqualTo(
            [
                "env DEBIAN_FRONTEND=noninteractive apt-get update",
                "env DEBIAN_FRONTEND=noninteractive apt-get install -y postgresql",
            ]));
    }

    [Test]
    public void PostgreSql_has_a_package_for_every_known_manager() =>
        Assert.That(InstallableServer.PostgreSql.Packages.Keys, Is.EquivalentTo(PackageManager.All.Select(manager => manager.Name)));

    [Test]
    public void RabbitMq_has_a_package_for_every_known_manager_but_winget() =>
        Assert.That(
            InstallableServer.RabbitMq.Packages.Keys, Is.EquivalentTo(PackageManager.All.Select(manager => manager.Name).Where(name => name is not "winget")));

    [Test]
    public async Task A_server_that_a_run_can_go_without_fails_without_an_end_and_what_its_package_also_does_is_said_before()
    {
        var store = new InstallableServer(
            "Store", () => false, Named("store"), IsRequired: false, Named("It also starts a service."));

        await new PlatformPackages([store], Failing).InstallMissingAsync(output, CancellationToken.None);

        Assert.That(
            output.ToString().ReplaceLineEndings("\n"),
            Is.EqualTo(
                """
                It also starts a service.
                Store is missing. Running: dotnet no-such-command store
                Installing Store failed: 'dotnet no-such-command store' ended with exit code 1. Runs leave Store out until it is installed.
                  → See its message above; fix the cause, or run the command by hand.

                """.ReplaceLineEndings("\n")));
    }

    private Task InstallAsync(PackageManager? manager)
    {
        var store = new InstallableServer("Store", () => present, Named("store"));
        return new PlatformPackages([store], manager).InstallMissingAsync(output, CancellationToken.None);
    }

    private static Dictionary<string, string> Named(string text) => new(StringComparer.Ordinal) { ["dotnet"] = text };
}
