using System.Reflection;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;

namespace Kit.Tests.Architecture;

/// <summary>An entry that its list lacks would be tried by no command and shown in no table.</summary>
public sealed class EntriesOfLists
{
    private static IEnumerable<TestCaseData> Lists =>
    [
        Of(TransactionMode.All), Of(LogFlush.All), Of(Fault.All), Of(Scenario.All), Of(Condition.All), Of(Reuse.All), Of(Axis.All),
    ];

    [TestCaseSource(nameof(Lists))]
    public void Are_in_their_list(Type type, IReadOnlyList<object> all) => Assert.That(
        type.GetProperties(BindingFlags.Public | BindingFlags.Static).Select(property => property.GetValue(null)).Where(type.IsInstanceOfType).Except(all),
        Is.Empty);

    private static TestCaseData Of<T>(IReadOnlyList<T> all)
        where T : class => new TestCaseData(typeof(T), all).SetArgDisplayNames(typeof(T).Name);
}
