using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>What is told of a failed attempt.</summary>
internal static class Failure
{
    /// <summary>A scope that could not commit hides why.</summary>
    public static Exception ReasonOf(Exception failure) =>
        failure is TransactionException { InnerException: { } inner } ? inner : failure;

    public static string Describe(Exception reason) => $"{reason.GetType().FullName}: {reason.Message}".Replace('\0', ' ');
}
