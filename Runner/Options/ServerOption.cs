using System.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.Options;

/// <summary>The common rules of all options that name servers.</summary>
internal static class ServerOption
{
    /// <summary>
    /// The server of a command that works on existing data. It never comes from the environment, which names servers for measurements.
    /// </summary>
    public static Option<string?> Existing(TransportSetting server, string description)
    {
        var option = new Option<string?>(server.Option) { Description = description, HelpName = server.HelpName };
        option.NotEmpty();
        return option;
    }

    /// <summary>
    /// The command as typed, without the servers' passwords: the results, which are published, contain the command.
    /// </summary>
    public static string Masked(IEnumerable<string> arguments, TransportArguments transports) => TypedCommand.Of(
        arguments.Select(argument => transports.Servers.Aggregate(
            argument, (masked, server) => masked.Replace(server, ConnectionStrings.Mask(server), StringComparison.Ordinal))));
}
