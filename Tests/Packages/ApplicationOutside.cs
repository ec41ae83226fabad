namespace Kit.Tests.Packages;

/// <summary>An application in a folder of its own that knows the packages alone: it builds, and its handler handles a message.</summary>
[Parallelizable]
public sealed class ApplicationOutside
{
    private const string Program =
        """
        using Kit.Endpoints.Bare;
        using Kit.Endpoints.Bare.PostgreSql;
        using Kit.Modes;
        using Microsoft.Extensions.DependencyInjection;
        using Microsoft.Extensions.Hosting;

        var (queues, data) = (args[0], args[1]);
        await using var queue = new PostgreSqlQueue(queues, "orders");
        await queue.CreateAsync(CancellationToken.None);
        var builder = Host.CreateApplicationBuilder();
        builder.Services.AddBareEndpoint("orders", endpoint => endpoint
            .UsePostgreSql(queues, data)
            .UseTransactionMode(TransactionMode.FullDtc)
            .Handle<PlaceOrder, PlaceOrderHandler>());
        using var host = builder.Build();
        await host.StartAsync();
        await queue.EnqueueAsync([OutgoingMessage.Create("orders", new PlaceOrder("a hundred widgets"))], CancellationToken.None);
        Console.WriteLine($"handled: {await PlaceOrderHandler.Handled.Task.WaitAsync(TimeSpan.FromSeconds(60))}");
        await host.StopAsync();

        public sealed record PlaceOrder(string What);

        public sealed class PlaceOrderHandler : IMessageHandler<PlaceOrder>
        {
            public static readonly TaskCompletionSource<string> Handled = new();

            public async Task HandleAsync(PlaceOrder message, MessageContext context, CancellationToken cancellationToken)
            {
                var connection = await context.GetConnectionAsync(cancellationToken);
                await using var command = connection.CreateCommand();
                command.CommandText = "SELECT current_database()";
                await command.ExecuteScalarAsync(cancellationToken);
                Handled.TrySetResult(message.What);
            }
        }
        """;

    [Test]
    [CancelAfter(300_000)]
    public async Task Handles_a_message()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var packages = await PackedFolder.GetAsync();
        using var folder = new TemporaryFolder();
        await File.WriteAllTextAsync(Path.Combine(folder.Path, "Program.cs"), Program);
        await File.WriteAllTextAsync(Path.Combine(folder.Path, "Outside.csproj"), ProjectOn(packages));

        var result = await DotNet.RunInAsync(folder.Path, "run", "--", databases.Queue, databases.Widgets);

        Assert.That(result.ExitCode, Is.Zero, result.Output);
        Assert.That(result.Output, Does.Contain("handled: a hundred widgets"));
    }

    // Packages of a version are unpacked once for a machine: these go to a folder of their own, or the next test would get them.
    private static string ProjectOn(string packages) =>
        $"""
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <OutputType>Exe</OutputType>
            <TargetFramework>net10.0</TargetFramework>
            <Nullable>enable</Nullable>
            <ImplicitUsings>enable</ImplicitUsings>
            <RestoreAdditionalProjectSources>{packages}</RestoreAdditionalProjectSources>
            <RestoreFallbackFolders>{GlobalPackages}</RestoreFallbackFolders>
            <RestorePackagesPath>unpacked</RestorePackagesPath>
          </PropertyGroup>
          <ItemGroup>
            <PackageReference Include="TransactionModes.Bare.PostgreSql" Version="{Library.Version}" />
            <PackageReference Include="Microsoft.Extensions.Hosting" Version="10.0.14" />
          </ItemGroup>
        </Project>
        """;

    private static string GlobalPackages => Environment.GetEnvironmentVariable("NUGET_PACKAGES")
        ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");
}
