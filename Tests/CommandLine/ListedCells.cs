using System.Text.RegularExpressions;
using Kit.Runner;
using Kit.Runner.CommandLine;

namespace Kit.Tests.CommandLine;

public sealed partial class ListedCells
{
    [Test]
    public async Task Every_cell_is_shown_with_what_hinders_it()
    {
        var result = await RunnerProcess.RunAsync("list");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Approval.Verify("list.txt", WhateverTheFeedHas(result.Output));
    }

    [Test]
    public async Task Filters_choose_among_them()
    {
        var result = await RunnerProcess.RunAsync("list", "--mode", "dtc-off,scope-off", "--access", "ado", "--framework", "bare");

        Assert.That(result.Output.Split('\n')[0..2], Is.EqualTo(new[]
        {
            "bare  postgresql  dtc-off    ado  can run",
            "bare  postgresql  scope-off  ado  can run",
        }));
    }

    [Test]
    public void No_cell_is_said()
    {
        using var output = new StringWriter();

        ListCommand.Write([], output);

        Assert.That(output.ToString(), Does.StartWith("There is no such cell: "));
    }

    // Optional packages are there or not; what is said then is theirs to test.
    private static string WhateverTheFeedHas(string list) => Count().Replace(Optional().Replace(list, "${cell}(with the package)"), "(some)");

    [GeneratedRegex("^(?<cell>(nservicebus .*(ado|dapper|npoco)|.* npoco|.* sqlserver +[^ ]+ +[^ ]+) +).*$", RegexOptions.Multiline | RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Optional();

    [GeneratedRegex("^[0-9]+(?= of )", RegexOptions.Multiline, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Count();
}
