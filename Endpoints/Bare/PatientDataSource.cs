using System.Data.Common;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare;

/// <summary>Opens connections, and retries for as long as the server refuses.</summary>
/// <param name="data">The handlers' database.</param>
/// <param name="firstPause">The first pause between two tries. Later ones double, as in <see cref="BackOff"/>.</param>
/// <param name="log">Logs each refusal.</param>
internal sealed partial class PatientDataSource(DbDataSource data, TimeSpan firstPause, ILogger log)
{
    /// <exception cref="OperationCanceledException">The host no longer waits for handlers.</exception>
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

    [LoggerMessage(Level = LogLevel.Warning, Message = "The handlers' database refuses a connection: {Reason} The message waits. Next try in {Seconds} s.")]
    private partial void LogRefused(string reason, double seconds);
}
