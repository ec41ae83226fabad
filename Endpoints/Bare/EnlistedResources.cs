using System.Reflection;
using System.Transactions;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Names the resources that are enlisted in a transaction. System.Transactions does not expose them, so this reads its private fields. If those
/// have changed, it names nothing. Only the wording of a <see cref="SecondEnlistmentException"/> depends on it.
/// </summary>
internal static class EnlistedResources
{
    private const BindingFlags Fields = BindingFlags.Instance | BindingFlags.NonPublic;

    /// <summary>The other enlisted resources, without passwords; empty if they cannot be read.</summary>
    public static string DescribeOthers(PreparingEnlistment own, IEnlistmentNotification except)
    {
        try
        {
            var transaction = Read(Read(own, "_internalEnlistment"), "_transaction");
            IEnumerable<object?> enlistments =
            [
                .. Read(Read(transaction, "_phase0Volatiles"), "_volatileEnlistments") as object?[] ?? [],
                .. Read(Read(transaction, "_phase1Volatiles"), "_volatileEnlistments") as object?[] ?? [],
                Read(transaction, "_durableEnlistment"),
            ];
            return string.Join("; ", enlistments
                .Select(enlistment => Read(enlistment, "_twoPhaseNotifications"))
                .Where(resource => resource is not null && resource != except)
                .Select(resource => Describe(resource!)));
        }
        catch (Exception)
        {
            return "";
        }
    }

    private static string Describe(object resource)
    {
        var source = resource.GetType().GetFields(Fields).Select(field => field.GetValue(resource)).OfType<NpgsqlDataSource>().FirstOrDefault();
        if (source is null)
            return resource.GetType().Name;

        var all = new NpgsqlConnectionStringBuilder(source.ConnectionString);
        return new NpgsqlConnectionStringBuilder { Host = all.Host, Port = all.Port, Database = all.Database, Username = all.Username }.ConnectionString;
    }

    private static object? Read(object? from, string field)
    {
        for (var type = from?.GetType(); type is not null; type = type.BaseType)
        {
            if (type.GetField(field, Fields) is { } found)
                return found.GetValue(from);
        }

        return null;
    }
}
