using System.Data.Common;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare;

/// <summary>Opens connections, and tries again for as long as the server refuses.</summary>
/// <param name="data">Of the handlers' database.</param>
/// <param name="firstPause">Between two tries; doubled each time, as <see cref="BackOff"/> says.</param>
/// <param name="log">Told of each refusal.</param>
internal sealed partial class PatientDataSource(DbDataSource data, TimeSpan firstPause, ILogger log)
{
    /// <exception cref="OperationCanceledException">The host no longer waits.</exception>
    public async ValueTask<DbConnection> OpenAsync(CancellationToken cancellationToken)
    {
        for (var backOff = new BackOff(firstPause); ;)
        {
            try
            {
                return await data.OpenConnectionAsync(cancellationToken);
            }
            catch (Exception refused) when (refused is not OperationCanceledException)
            {
                var pause = backOff.Next();
                LogRefused(refused.Message, pause.TotalSeconds);
                await Task.Delay(pause, cancellationToken);
            }
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "The handlers' database refuses a connection: {Reason} The message waits. Tried again in {Seconds} s.")]
    private partial void LogRefused(string reason, double seconds);
}
