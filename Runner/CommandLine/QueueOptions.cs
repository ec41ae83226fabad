using System.CommandLine;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Stage.Operations;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary>The queue that a command about dead letters works on.</summary>
internal sealed class QueueOptions
{
    private readonly IReadOnlyList<(ExistingQueue Queue, Option<string?> Option)> servers =
    [
        .. from transport in Transport.All
           where transport.ExistingQueue is not null
           select (transport.ExistingQueue, ServerOption.Existing(transport.Server!, transport.ExistingQueue!.Description)),
    ];

    private readonly Option<string?> queue = new("--queue") { Description = "The queue; it has its endpoint's name.", HelpName = "name" };

    public void AddTo(Command command)
    {
        queue.NotEmpty();
        foreach (var option in servers.Select(server => server.Option).Append(queue))
            command.Options.Add(option);

        command.Validators.Add(result =>
        {
            if (result.GetResult(queue) is null)
                result.AddError("--queue: missing; give the endpoint's name.");
            if (servers.Count(server => result.GetResult(server.Option) is not null) != 1)
                result.AddError($"expected exactly one server, {string.Join(" or ", servers.Select(server => server.Option.Name))}.");
        });
        foreach (var (there, option) in servers)
        {
            option.Validators.Add(result =>
            {
                if (result.GetValueOrDefault<string?>() is { Length: > 0 } typed && there.WhyNot(typed) is { } reason)
                    result.AddError($"{option.Name}: {reason}");
            });
        }
    }

    /// <exception cref="KitException">The typed text cannot be read.</exception>
    public DeadLetters Open(ParseResult parsed)
    {
        var (there, option) = servers.Single(server => parsed.GetValue(server.Option) is not null);
        return there.Open(parsed.GetValue(option)!, NameIn(parsed));
    }

    public string NameIn(ParseResult parsed) => parsed.GetValue(queue)!;
}
