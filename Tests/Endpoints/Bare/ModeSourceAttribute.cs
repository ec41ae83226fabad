using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Tests.Contract;
using NUnit.Framework.Interfaces;
using NUnit.Framework.Internal;

namespace Kit.Tests.Bare;

/// <summary>
/// Cases of modes of the bare endpoint. Some run only with the exhaustive tests: full-dtc-waiting, which has the receiver of full-dtc;
/// npgsql-scope, with which the kit compares its own; and on two servers every mode but full-dtc, for the code is that of one server. The probe and the
/// situations that show a promise run always in every mode: <c>ContractCells.All</c>.
/// </summary>
internal sealed class ModeSourceAttribute : TestCaseSourceAttribute, ITestBuilder
{
    public ModeSourceAttribute(string sourceName)
        : base(sourceName)
    {
    }

    public ModeSourceAttribute(Type sourceType, string sourceName)
        : base(sourceType, sourceName)
    {
    }

    public new IEnumerable<TestMethod> BuildFrom(IMethodInfo method, Test? suite)
    {
        foreach (var test in base.BuildFrom(method, suite))
        {
            if (test.Arguments.Any(IsOnDemand))
                test.Properties.Add(PropertyNames.Category, ExhaustiveAttribute.Category);
            yield return test;
        }
    }

    /// <summary>True if cases of the mode run only with the exhaustive tests, also on one server.</summary>
    public static bool IsOnDemand(TransactionMode mode) => mode == TransactionMode.FullDtcWaiting || mode == TransactionMode.NpgsqlScope;

    private static bool IsOnDemand(object? argument) => argument switch
    {
        Cell cell => IsOnDemand(cell.Mode) || ContractCells.IsAsOnOneServer(cell),
        TransactionMode mode => IsOnDemand(mode),
        string name => name == TransactionMode.FullDtcWaiting.Name || name == TransactionMode.NpgsqlScope.Name,
        _ => false,
    };
}
