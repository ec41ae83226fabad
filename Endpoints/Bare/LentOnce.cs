using System.Diagnostics.CodeAnalysis;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>A resource lent to a handler. It is opened at the first request, and only once, even if requests are concurrent.</summary>
/// <param name="open">Opens it. Called again after a failure.</param>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable",
    Justification = "A semaphore whose wait handle is never used holds no resource.")]
internal sealed class LentOnce<T>(Func<CancellationToken, ValueTask<T>> open)
    where T : class
{
    private readonly SemaphoreSlim one = new(1, 1);
    private bool closed;

    /// <summary>What was opened, if anything was.</summary>
    public T? Opened { get; private set; }

    /// <summary>Why the server refused the handler a connection; <see langword="null"/> if it did not, or was not asked.</summary>
    public Exception? Refusal { get; private set; }

    /// <exception cref="InvalidOperationException">The handler's attempt has ended, but the handler still runs in the background.</exception>
    public async ValueTask<T> GetAsync(CancellationToken cancellationToken)
    {
        await one.WaitAsync(cancellationToken);
        try
        {
            if (closed)
                throw new InvalidOperationException("The handler asked for its connection after its attempt had ended.");

            return Opened ??= await OpenAsync(cancellationToken);
        }
        finally
        {
            one.Release();
        }
    }

    /// <summary>Ends the lending: later requests fail.</summary>
    /// <returns>What was opened, if anything was.</returns>
    public async ValueTask<T?> CloseAsync()
    {
        await one.WaitAsync();
        closed = true;
        one.Release();
        return Opened;
    }

    private async ValueTask<T> OpenAsync(CancellationToken cancellationToken)
    {
        try
        {
            var opened = await open(cancellationToken);
            Refusal = null;
            return opened;
        }
        // A platform that cannot do it is no server that refuses: waiting does not help.
        catch (Exception refused) when (refused is not (OperationCanceledException or TransactionException or PlatformNotSupportedException))
        {
            Refusal = refused;
            throw;
        }
    }
}
