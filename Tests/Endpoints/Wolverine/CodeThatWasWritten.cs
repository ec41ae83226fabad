using System.Reflection;
using System.Text.RegularExpressions;
using JasperFx.CodeGeneration;
using JasperFx.RuntimeCompiler;
using Kit.Modes;
using Kit.Tests.Samples;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using Wolverine;
using Wolverine.EntityFrameworkCore;
using Wolverine.Runtime.Handlers;

namespace Kit.Tests.Wolverine;

/// <summary>The code that Wolverine writes around a handler.</summary>
[Parallelizable]
public sealed partial class CodeThatWasWritten
{
    [TestCase("scope-off", false)]
    [TestCase("outbox", true)]
    public async Task For_another_mode_fails_the_start_in_outbox(string mode, bool starts)
    {
        await using var databases = await TestDatabases.CreateAsync();
        var written = await WriteAsync(databases.Widgets, TransactionMode.Parse(mode), typeof(InOutboxAlone));
        var compiler = new AssemblyGenerator();
        compiler.ReferenceAssembly(typeof(OrdersContext).Assembly);
        using var host = Build(databases.Widgets, TransactionMode.Outbox, typeof(InOutboxAlone), wolverine =>
        {
            wolverine.CodeGeneration.TypeLoadMode = TypeLoadMode.Static;
            wolverine.CodeGeneration.ApplicationAssembly = compiler.Generate($"using Microsoft.Extensions.DependencyInjection;{written}");
        });

        if (starts)
        {
            await host.StartAsync();
            await host.StopAsync();
            return;
        }

        await Assert.ThatAsync(
            () => host.StartAsync(),
            Throws.TypeOf<InvalidOperationException>().With.Message.Contains("The code that was written for the handler of OrderToPlace has no transaction"));
    }

    /// <summary>The measured cell has a handler of its own in place of it, so that nothing is compiled while it is measured.</summary>
    [Test]
    public async Task In_outbox_calls_what_the_measured_handler_calls()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var written = await WriteAsync(databases.Widgets, TransactionMode.Outbox, typeof(InOutboxAlone));
        var measured = await File.ReadAllTextAsync(Path.Combine(RepositoryFiles.Root, "Endpoints", "Cells", "WolverineHandlers.cs"));
        measured = measured[measured.IndexOf("class WolverineHandlerInItsTransaction", StringComparison.Ordinal)..];

        Assert.That(CallsIn(measured), Is.EqualTo(CallsIn(written)), written);
        Assert.That(CallsIn(written), Has.Count.GreaterThan(4), written);
    }

    // Of Wolverine and Entity Framework Core; handlers have other names.
    private static List<string> CallsIn(string code) =>
        [.. AwaitedCall().Matches(code).Select(call => call.Value)];

    [GeneratedRegex(@"(?<=await [\w.]+\.)\w+Async(?=\()", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex AwaitedCall();

    /// <summary>What <c>codegen write</c> writes.</summary>
    private static async Task<string> WriteAsync(string database, TransactionMode mode, Type handler)
    {
        using var host = Build(database, mode, handler, wolverine => wolverine.UseRuntimeCompilation());
        await host.StartAsync();
        var handlers = host.Services.GetRequiredService<HandlerGraph>();
        handlers.HandlerFor<OrderToPlace>();
        var code = (string)typeof(HandlerChain).GetProperty("SourceCode", BindingFlags.Instance | BindingFlags.NonPublic)!
            .GetValue(handlers.ChainFor<OrderToPlace>())!;
        await host.StopAsync();
        return code;
    }

    private static IHost Build(string database, TransactionMode mode, Type handler, Action<WolverineOptions> configure)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddSingleton(NpgsqlDataSource.Create(database));
        builder.Services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            wolverine.Durability.Mode = DurabilityMode.Solo;
            wolverine.ApplicationAssembly = typeof(CodeThatWasWritten).Assembly;
            wolverine.Discovery.DisableConventionalDiscovery().IncludeType(handler);
            wolverine.Services.AddDbContextWithWolverineIntegration<OrdersContext>(context => context.UseNpgsql(database), "wolverine");
            wolverine.UseTransactionMode(mode, database, "orders");
            configure(wolverine);
        });
        return builder.Build();
    }
}
