using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.SqlServer;

namespace Kit.Runner.Stage.Transports;

/// <summary>SQL Server, if the package feed has its driver.</summary>
internal sealed class SqlServerWithDriver : SqlServerTransport
{
    public override Support SupportHere(TransportArguments arguments) => SupportAnywhere(arguments);

    public override async Task<IReadOnlyList<Lack>> CheckAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        [.. Lack.OfEveryCell((await SqlServerFacts.ReadAsync(arguments[Server!]!, cancellationToken)).Findings())];

    public override Task<ServerInUse> StartAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        Task.FromResult<ServerInUse>(new SqlServerInUse(
            this, arguments[Server!] ?? throw new InvalidOperationException("No SQL Server is named.")));

    protected override async Task<IReadOnlyList<Finding>> ExamineAsync(string named, CancellationToken cancellationToken)
    {
        try
        {
            return [.. Lack.NoneFatal((await SqlServerFacts.ReadAsync(named, cancellationToken)).Findings())];
        }
        catch (KitException unusable)
        {
            return [new Finding(What, ConnectionStrings.Mask(named), unusable.Message, unusable.Remedy, IsFatal: true)];
        }
    }
}
