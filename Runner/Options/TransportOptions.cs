using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.Options;

/// <summary>
/// The options about transports, from the command line or else from the environment. Without either, the kit starts its own server.
/// </summary>
internal sealed class TransportOptions
{
    private readonly IReadOnlyList<(TransportSetting Setting, Option<string?> Option)> options;

    private TransportOptions(IEnumerable<TransportSetting> settings) =>
        options = [.. settings.Select(setting => (setting, Create(setting)))];

    public IEnumerable<Option> All => options.Select(one => one.Option);

    /// <summary>The options that name servers.</summary>
    public static TransportOptions Servers() => new(Transport.All.SelectMany(transport => transport.Settings));

    /// <summary>The options for a run's use of them.</summary>
    public static TransportOptions Choices() => new(Transport.All.SelectMany(transport => transport.Choices));

    /// <summary>The values from the command line, or else from the environment.</summary>
    public static TransportArguments Read(ParseResult parsed, params IEnumerable<TransportOptions> all) => TransportArguments.Of(
        from options in all
        from one in options.options
        select (one.Setting, parsed.GetValue(one.Option)));

    private static Option<string?> Create(TransportSetting setting)
    {
        var option = new Option<string?>(setting.Option) { Description = setting.Description, HelpName = setting.HelpName };
        if (setting.Variable is not null)
            option.DefaultValueFactory = _ => setting.FromEnvironment();
        if (setting.Names.Count == 0)
            option.NotEmpty();
        else
            option.Validators.Add(result => CheckName(result, setting));
        return option;
    }

    private static void CheckName(OptionResult result, TransportSetting setting)
    {
        if (result is { Implicit: false, Tokens: [{ Value: var typed }, ..] } && setting.WhyNot(typed) is { } reason)
            result.AddError($"{setting.Option}: {reason}");
    }
}
