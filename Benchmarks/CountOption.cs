using System.CommandLine;

namespace Kit.Benchmarks;

/// <summary>Options that count something.</summary>
internal static class CountOption
{
    public static Option<int> Rounds(int byDefault) => Of("--rounds", "Rounds; in each, every contestant runs once.", byDefault, least: 1);

    public static Option<int> Messages() => Of("--messages", "Messages of each measured drain.", 10_000, least: 1);

    public static Option<int> SeedRows() => Of("--seed-rows", "Rows in the widgets' table before each round.", 1_000_000, least: 0);

    public static Option<int> WarmUp() => Of("--warmup", "Messages drained before the clock starts.", 1_000, least: 0);

    private static Option<int> Of(string name, string description, int byDefault, int least)
    {
        var option = new Option<int>(name) { Description = description, DefaultValueFactory = _ => byDefault, HelpName = "n" };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < least)
                result.AddError($"{name} must be at least {least}, found {result.GetValueOrDefault<int>()}.");
        });
        return option;
    }
}
