using Kit.Endpoints.Bare.PostgreSql.Queues;

namespace Kit.Tests.Bare;

public sealed class LimitsOfASession
{
    /// <summary>A server refuses a session with a setting that it does not know.</summary>
    [TestCase(13, ExpectedResult = "idle_in_transaction_session_timeout statement_timeout lock_timeout")]
    [TestCase(16, ExpectedResult = "idle_in_transaction_session_timeout idle_session_timeout statement_timeout lock_timeout")]
    [TestCase(17, ExpectedResult = "idle_in_transaction_session_timeout idle_session_timeout transaction_timeout statement_timeout lock_timeout")]
    public string Are_lifted_where_the_server_has_them(int version) => string.Join(
        ' ', PatientSession.OptionsToWork(version).Split("-c ").Select(setting => setting.Trim().Split('=')[0])
            .Where(name => name.EndsWith("timeout", StringComparison.Ordinal)));
}
