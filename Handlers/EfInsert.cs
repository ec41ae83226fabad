using System.Data.Common;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Infrastructure;

namespace Kit.Handlers;

/// <summary>
/// The same insert with Entity Framework Core on Npgsql: a context from a pool, on the connection that the handler was lent, and in its transaction.
/// </summary>
public sealed class EfInsert : IWidgetInsert
{
    private static readonly PooledDbContextFactory<WidgetContext> Contexts =
        new(new DbContextOptionsBuilder<WidgetContext>().UseNpgsql().UseQueryTrackingBehavior(QueryTrackingBehavior.NoTracking).Options);

    public async Task InsertAsync(DbConnection connection, DbTransaction? transaction, Widget widget, CancellationToken cancellationToken)
    {
        await using var context = await Contexts.CreateDbContextAsync(cancellationToken);
        context.Database.SetDbConnection(connection);
        try
        {
            // Disposing it only detaches it: the endpoint ends the transaction.
            await using var lent = await context.Database.UseTransactionAsync(transaction, cancellationToken);
            context.Add(widget);
            await context.SaveChangesAsync(cancellationToken);
        }
        finally
        {
            // A context in its pool would otherwise keep the connection.
            context.Database.SetDbConnection(null);
        }
    }

    private sealed class WidgetContext : DbContext
    {
        public WidgetContext(DbContextOptions<WidgetContext> options)
            : base(options)
        {
            // The mode decides what commits. A context that begins a transaction of its own fails on a connection that has one.
            Database.AutoTransactionBehavior = AutoTransactionBehavior.Never;
        }

        protected override void OnModelCreating(ModelBuilder modelBuilder) => modelBuilder.Entity<Widget>(widget =>
        {
            widget.ToTable("widget").HasKey(row => row.Id);
            widget.Property(row => row.Id).HasColumnName("id").ValueGeneratedNever();
            widget.Property(row => row.MessageId).HasColumnName("message_id");
        });
    }
}
