using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Tests.Results.Pages;

namespace Kit.Tests.CommandLine;

public sealed class BlocksToWrite
{
    private const string Page = "docs/page.md";

    [Test]
    public async Task Those_of_the_repository_are_found_from_a_folder_of_it()
    {
        var result = await RunnerInProcess.RunAsync("pages", "--check");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(result.Output, Does.Contain("Every block is as it would be written."));
    }

    [Test]
    public void A_check_names_what_differs_and_what_to_run_and_writes_nothing()
    {
        using var repository = WithOneBlock();
        var before = repository.Read(Page);

        var (code, said) = Run(repository, isCheck: true);

        Assert.That(code, Is.EqualTo(ExitCode.Failure));
        Assert.That(said, Is.EqualTo("DIFFERS: docs/page.md:1: block modes-table\nTo write them: ./run.sh pages\n"));
        Assert.That(repository.Read(Page), Is.EqualTo(before));
    }

    [Test]
    public void Written_they_no_longer_differ()
    {
        using var repository = WithOneBlock();

        var written = Run(repository, isCheck: false);
        var check = Run(repository, isCheck: true);

        Assert.That(written, Is.EqualTo((ExitCode.Success, "Written: docs/page.md:1: block modes-table\n")));
        Assert.That(check, Is.EqualTo((ExitCode.Success, "Every block is as it would be written.\n")));
    }

    [Test]
    public void One_that_cannot_be_made_leaves_every_page_as_it_is()
    {
        using var repository = WithOneBlock();
        repository.Write("docs/wrong.md", "<!-- block: modes-table from results/nowhere -->\n<!-- /block -->\n");
        var before = repository.Read(Page);

        Assert.That(() => Run(repository, isCheck: false), Throws.TypeOf<KitException>());
        Assert.That(repository.Read(Page), Is.EqualTo(before));
    }

    [Test]
    public void Outside_a_checkout_the_command_says_where_it_belongs()
    {
        using var elsewhere = new TemporaryFolder();

        Assert.That(
            () => PagesCommand.RootAbove(elsewhere.Path, "pages"),
            Throws.TypeOf<KitException>().With.Message.Contains("Expected Kit.sln").And.Property(nameof(KitException.IsUsage)).True);
    }

    private static InventedRepository WithOneBlock()
    {
        var repository = new InventedRepository();
        repository.SaveRun("results/all", InventedRepository.Shown);
        repository.SaveStorms("results/all");
        repository.Write(Page, "<!-- block: modes-table from results/all -->\n<!-- /block -->\n");
        return repository;
    }

    private static (int Code, string Said) Run(InventedRepository repository, bool isCheck)
    {
        using var output = new StringWriter { NewLine = "\n" };
        return (PagesCommand.Run(repository.Root, isCheck, output), output.ToString());
    }
}
