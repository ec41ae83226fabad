using Kit.Modes;

namespace Kit.Runner.CommandLine;

/// <summary><c>errors</c>: what became of messages that were given up, and their way back.</summary>
internal sealed class ErrorsCommand : KitCommand
{
    public ErrorsCommand()
        : base(
            "errors",
            "Lists the dead letters of a bare endpoint's queue, in a database or broker of yours, and returns them to the queue.",
            (
                "errors list --postgresql \"Host=db1;Username=app;Password=…;Database=orders\" --queue orders",
                $"what lies in {ErrorQueue.Of("orders")}, and why"),
            (
                "errors return --postgresql \"Host=db1;Username=app;Password=…;Database=orders\" --queue orders --all",
                "all of it back into orders"))
    {
        Subcommands.Add(new ErrorsListCommand());
        Subcommands.Add(new ErrorsReturnCommand());
    }
}
