using Kit.Endpoints.Cells;

namespace Kit.Tests.Transports;

/// <summary>A transport for which the tests have no server that they share.</summary>
public sealed class TransportWithoutASharedServer
{
    [Test]
    public async Task Has_its_queues_where_a_run_would_have_them()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var cell = Cell.All.First(cell => cell.Kind.Transport == TransportName.Learning);

        string folder;
        await using (var transport = await TestTransport.OpenAsync(cell, databases))
        {
            folder = transport.Address;
            Assert.That(folder, Does.Exist);
        }

        Assert.That(folder, Does.Not.Exist);
    }
}
