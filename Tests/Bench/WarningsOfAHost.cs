using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Kit.Tests;

/// <summary>What a host's endpoints logged as a warning or worse.</summary>
internal sealed class WarningsOfAHost : ILoggerProvider, ILogger
{
    private readonly ConcurrentQueue<string> warnings = new();

    public IReadOnlyCollection<string> Lines => warnings;

    public int Count(string words) => warnings.Count(warning => warning.Contains(words, StringComparison.Ordinal));

    public ILogger CreateLogger(string categoryName) => this;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (IsEnabled(logLevel))
            warnings.Enqueue($"{logLevel}: {formatter(state, exception)}");
    }

    public override string ToString() => string.Join(Environment.NewLine, warnings);

    public void Dispose()
    {
        // The texts are read after the host has ended.
    }
}
