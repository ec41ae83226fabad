using System.Diagnostics.CodeAnalysis;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>What a handler is lent: opened when it first asks, and once, however many ask at the same time.</summary>
/// <param name="open">Opens it. Asked again when it has failed.</param>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable",
    Justification = "A semaphore whose wait handle nobody asks for holds nothing.")]
internal sealed class LentOnce<T>(Func<CancellationToken, ValueTask<T>> open)
    where T : class
{
    private readonly SemaphoreSlim one = new(1, 1);
    private bool closed;

    /// <summary>What was opened, if anything was.</summary>
    public T? Opened { get; private set; }

    /// <summary>Why the server did not let the handler in; <see langword="null"/> when it did, or was not asked.</summary>
    public Exception? Refusal { get; private set; }

    /// <exception cref="InvalidOperationException">The handler's attempt has ended; it must have gone on in the background.</exception>
    public async ValueTask<T> GetAsync(CancellationToken cancellationToken)
    {
        await one.WaitAsync(cancellationToken);
        try
        {
            if (closed)
                throw new InvalidOperationException("The handler asked for its connection when its attempt had ended.");

            return Opened ??= await OpenAsync(cancellationToken);
        }
        finally
        {
            one.Release();
        }
    }

    /// <summary>Opens no more from now on.</summary>
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
        catch (Exception refused) when (refused is not (OperationCanceledException or TransactionException))
        {
            Refusal = refused;
            throw;
        }
    }
}
