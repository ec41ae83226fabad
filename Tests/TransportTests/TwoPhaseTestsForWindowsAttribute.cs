using System;
using System.Collections.Generic;
using System.Linq;
using NUnit.Framework;
using NUnit.Framework.Interfaces;
using NUnit.Framework.Internal;

[assembly: Kit.Tests.TransportTests.TwoPhaseTestsForWindows]

namespace Kit.Tests.TransportTests;

/// <summary>Ignores the transport tests that cannot pass on this system, and says why.</summary>
[AttributeUsage(AttributeTargets.Assembly)]
internal sealed class TwoPhaseTestsForWindowsAttribute : NUnitAttribute, IApplyToTest
{
    private const string SecondDurableResource =
        "It enlists a durable resource that must take part in two phases. Outside of Windows .NET refuses that (PlatformNotSupportedException): " +
        "the message fails, but not with the TransactionAbortedException that the test asks for.";

    private static readonly HashSet<string> OnWindowsOnly =
        ["When_scope_complete_throws", "When_scope_throws_after_successful_message_processing"];

    public void ApplyToTest(Test test)
    {
        ArgumentNullException.ThrowIfNull(test);
        if (OperatingSystem.IsWindows())
            return;

        foreach (var fixture in Below(test).Where(each => each.TypeInfo is not null && OnWindowsOnly.Contains(each.TypeInfo.Name)).OfType<TestFixture>())
        {
            fixture.RunState = RunState.Ignored;
            fixture.Properties.Set(PropertyNames.SkipReason, SecondDurableResource);
        }
    }

    private static IEnumerable<Test> Below(Test test) => test.Tests.OfType<Test>().SelectMany(each => Below(each).Prepend(each));
}
