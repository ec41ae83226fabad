using Kit.Endpoints.Bare;

namespace Kit.Tests.Bare;

/// <summary>Which failures to open a handler's connection count no attempt, because its server refuses.</summary>
[Parallelizable]
public sealed class RefusedConnection
{
    [Test]
    public async Task A_server_that_refuses_is_waited_for() =>
        Assert.That(await RefusalAsync(new TimeoutException()), Is.TypeOf<TimeoutException>());

    [Test]
    public async Task A_platform_that_cannot_is_not() => Assert.That(await RefusalAsync(new PlatformNotSupportedException()), Is.Null);

    private static async Task<Exception?> RefusalAsync(Exception failure)
    {
        var lent = new LentOnce<object>(_ => throw failure);
        await Assert.ThatAsync(async () => await lent.GetAsync(CancellationToken.None), Throws.Exception.SameAs(failure));
        return lent.Refusal;
    }
}
