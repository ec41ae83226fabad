using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>Why other transports and frameworks lack a setting.</summary>
public static class OnlyOnPostgreSql
{
    public static Support Flushes { get; } = Support.No("which commits wait for the log is a setting of the bare endpoint on PostgreSQL");

    public static Support Ahead { get; } = Support.No("a receive in the round trip of the commit before it is a setting of the bare endpoint on PostgreSQL");

    internal static Support Participants { get; } =
        Support.No("only full-dtc of the bare endpoint on PostgreSQL commits the rows of several databases together: use it, or one database");

    public static Support Batches { get; } = Support.No("how many messages are received at once is a setting of the bare endpoint on PostgreSQL");
}
