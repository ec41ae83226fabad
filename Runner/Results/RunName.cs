using System.Globalization;

namespace Kit.Runner.Results;

/// <summary>The name of a stored run: the day on which it began, and the commit of the kit.</summary>
public static class RunName
{
    /// <summary>The remedy if a folder of results cannot be used.</summary>
    internal const string NameAnother = "Name a new folder with --out.";

    /// <param name="commit"><see langword="null"/> if it is unknown.</param>
    public static string Of(DateTimeOffset started, GitCommit? commit) =>
        DayOf(started) + (commit?.ShortId ?? "unknown");

    /// <summary>Refuses a folder that exists.</summary>
    /// <exception cref="KitException">It exists.</exception>
    public static void RequireNew(string folder)
    {
        if (Path.Exists(folder))
            throw new KitException($"{folder} exists.", NameAnother) { IsUsage = true };
    }

    /// <summary>Refuses a folder that has one of the files of earlier results.</summary>
    /// <exception cref="KitException">It has one.</exception>
    public static void RequireWithout(string folder, IEnumerable<string> files, string results)
    {
        if (files.FirstOrDefault(name => Path.Exists(Path.Combine(folder, name))) is { } found)
        {
            throw new KitException(
                $"The folder {folder} already contains a {results}: {found}.",
                $"Name a new folder with --out, or remove this one; a {results} is never overwritten.");
        }
    }

    /// <summary>A new folder of that name; if it exists, with a number appended, from 2.</summary>
    public static string NewFolder(string parent, DateTimeOffset started, GitCommit? commit) => New(Path.Combine(parent, Of(started, commit)));

    /// <summary>A new folder for the results about a service of others, named by the day and the service.</summary>
    public static string NewFolder(string parent, DateTimeOffset started, string service) => New(Path.Combine(parent, DayOf(started) + service));

    private static string DayOf(DateTimeOffset started) => started.UtcDateTime.ToString("yyyy-MM-dd-", CultureInfo.InvariantCulture);

    /// <summary>A path that does not exist: the name, or the name with a number appended, from 2.</summary>
    public static string New(string name) =>
        Enumerable.Range(1, int.MaxValue).Select(number => number == 1 ? name : $"{name}-{Figures.Plain(number)}").First(path => !Path.Exists(path));
}
