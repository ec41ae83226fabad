using Kit.Endpoints.Bare;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>
/// The driver drops the variable where a connection string has options, and the endpoint's tables would be in another schema. The variable is that of the
/// whole process, so no other test runs at the same time.
/// </summary>
public sealed class OptionsOfTheEnvironment
{
    private const string Variable = "PGOPTIONS";

    [Test]
    public void Are_kept_where_commits_do_not_wait()
    {
        var before = Environment.GetEnvironmentVariable(Variable);
        try
        {
            Environment.SetEnvironmentVariable(Variable, "-c search_path=public");
            var access = new DatabaseAccess("Host=127.0.0.1").CommittingAsynchronously();
            Assert.That(
                new NpgsqlConnectionStringBuilder(access.Text(enlist: false)).Options, Is.EqualTo("-c search_path=public -c synchronous_commit=off"));
        }
        finally
        {
            Environment.SetEnvironmentVariable(Variable, before);
        }
    }
}
