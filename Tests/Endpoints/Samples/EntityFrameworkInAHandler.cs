using System.Data.Common;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Modes;
using Kit.Tests.Bare;
using Microsoft.EntityFrameworkCore;

namespace Kit.Tests.Samples;

/// <summary>A handler that writes with Entity Framework Core, on the bare endpoint in every mode.</summary>
[Parallelizable]
public sealed class EntityFrameworkInAHandler
{
    private BareBench bench = null!;

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task Both_of_two_saves_are_committed(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, (context, cancellationToken) =>
            SaveAsync(context, [new Widget(1, context.MessageId), new Widget(2, context.MessageId)], cancellationToken));

        Assert.That(errors, Is.Empty);
        await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() == 2, "both rows are there");
    }

    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task A_failed_handlers_save_is_rolled_back_unless_statements_autocommit(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await SaveAsync(context, [new Widget(context.Attempt, context.MessageId)], cancellationToken);
            throw new InvalidOperationException("after the save");
        });

        var autocommits = mode == TransactionMode.ScopeOff || mode == TransactionMode.TransactionsOff;
        Assert.That(errors, Has.Count.EqualTo(1));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(autocommits ? mode.Attempts : 0));
    }

    [ModeSource(nameof(WithObject))]
    public async Task A_failed_save_that_the_handler_catches_is_taken_back_alone_and_the_message_counts_as_handled(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await SaveAsync(context, [new Widget(1, context.MessageId)], cancellationToken);
            await Assert.ThatAsync(
                () => SaveAsync(context, [new Widget(1, context.MessageId)], cancellationToken), Throws.InstanceOf<DbUpdateException>());
            await SaveAsync(context, [new Widget(2, context.MessageId)], cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() == 2, "the rows of the saves that succeeded are there");
    }

    /// <summary>Without savepoints the database has aborted the transaction, and the endpoint notices.</summary>
    [ModeSource(nameof(WithObject))]
    public async Task Without_EFs_savepoints_a_caught_failure_fails_the_message(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await SaveAsync(context, [new Widget(1, context.MessageId)], cancellationToken);
            await Assert.ThatAsync(
                () => SaveAsync(context, [new Widget(1, context.MessageId)], cancellationToken, withSavepoints: false),
                Throws.InstanceOf<DbUpdateException>());
        });

        Assert.That(errors, Has.Count.EqualTo(1));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.Zero);
    }

    private static IEnumerable<TransactionMode> WithObject => BareBench.Modes.Where(mode =>
        mode != TransactionMode.ScopeOff && mode != TransactionMode.TransactionsOff && mode != TransactionMode.NpgsqlScope);

    private static async Task SaveAsync(
        MessageContext context, IEnumerable<Widget> rows, CancellationToken cancellationToken, bool withSavepoints = true)
    {
        await using var widgets = new WidgetContext(await context.GetConnectionAsync(cancellationToken));
        await widgets.Database.UseTransactionAsync(await context.GetTransactionAsync(cancellationToken), cancellationToken);
        widgets.Database.AutoSavepointsEnabled = withSavepoints;
        foreach (var row in rows)
        {
            widgets.Add(row);
            await widgets.SaveChangesAsync(cancellationToken);
        }
    }

    private sealed class WidgetContext(DbConnection connection) : DbContext
    {
        protected override void OnConfiguring(DbContextOptionsBuilder optionsBuilder) => optionsBuilder.UseNpgsql(connection);

        protected override void OnModelCreating(ModelBuilder modelBuilder) => modelBuilder.Entity<Widget>(widget =>
        {
            widget.ToTable("widget").HasKey(row => row.Id);
            widget.Property(row => row.Id).HasColumnName("id").ValueGeneratedNever();
            widget.Property(row => row.MessageId).HasColumnName("message_id");
        });
    }
}
