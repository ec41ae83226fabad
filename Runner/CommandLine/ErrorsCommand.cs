using Kit.Modes;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>errors</c>: lists dead letters and returns them to their queue.</summary>
internal sealed class ErrorsCommand : KitCommand
{
    public ErrorsCommand()
        : base(
            "errors",
            "Lists the dead letters of a bare endpoint's queue, in your database or broker, and returns them to the queue.",
            (
                "errors list --postgresql \"Host=db1;Username=app;Password=…;Database=orders\" --queue orders",
                $"what is in {ErrorQueue.Of("orders")}, and why"),
            (
                "errors return --postgresql \"Host=db1;Username=app;Password=…;Database=orders\" --queue orders --all",
                "returns all of it to orders"))
    {
        Subcommands.Add(new ErrorsListCommand());
        Subcommands.Add(new ErrorsReturnCommand());
    }
}
