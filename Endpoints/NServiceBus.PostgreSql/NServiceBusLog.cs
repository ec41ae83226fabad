using Microsoft.Extensions.Logging;
using NServiceBus.Logging;
using LogLevel = Microsoft.Extensions.Logging.LogLevel;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>Writes to NServiceBus's log, so that a transport's messages appear where the endpoint's do.</summary>
/// <param name="endpoint">Which endpoint and receiver, as the log's lines begin.</param>
internal sealed class NServiceBusLog(string endpoint) : ILogger
{
    private readonly ILog log = LogManager.GetLogger<TwoPhaseReceiver>();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel switch
    {
        LogLevel.Trace or LogLevel.Debug => log.IsDebugEnabled,
        LogLevel.Information => log.IsInfoEnabled,
        LogLevel.Warning => log.IsWarnEnabled,
        LogLevel.Error => log.IsErrorEnabled,
        LogLevel.Critical => log.IsFatalEnabled,
        LogLevel.None => false,
        _ => throw UnknownLevel(logLevel),
    };

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (logLevel is LogLevel.None)
            return;

        var text = $"{endpoint}: {formatter(state, exception)}";
        Action<string, Exception?> write = logLevel switch
        {
            LogLevel.Trace or LogLevel.Debug => log.Debug,
            LogLevel.Information => log.Info,
            LogLevel.Warning => log.Warn,
            LogLevel.Error => log.Error,
            LogLevel.Critical => log.Fatal,
            _ => throw UnknownLevel(logLevel),
        };
        write(text, exception);
    }

    private static ArgumentOutOfRangeException UnknownLevel(LogLevel level) => new(nameof(level), level, "Expected: Trace to Critical, or None.");
}
