namespace Kit.Runner.Servers;

/// <summary>PostgreSQL refuses to run as root; root lends its throw-away cluster to a user without rights.</summary>
public static class UnprivilegedUser
{
    private static readonly IReadOnlyList<string> Candidates = ["postgres", "nobody"];

    /// <summary>The user to run the server as; <see langword="null"/> where our own will do.</summary>
    /// <exception cref="KitException">We are root and the machine has none of the users that the kit looks for.</exception>
    public static async Task<string?> FindAsync(CancellationToken cancellationToken)
    {
        // On Windows the server's programs give up an administrator's rights by themselves.
        if (OperatingSystem.IsWindows() || !Environment.IsPrivilegedProcess)
            return null;
        foreach (var user in Candidates)
        {
            if ((await new ExternalProgram("id").RunAsync(["-u", user], cancellationToken)).Succeeded)
                return user;
        }

        throw new KitException(
            $"PostgreSQL does not run as root, and there is no user {string.Join(" or ", Candidates)} to run it as.",
            "Run the kit as an ordinary user, or add a user named postgres.");
    }
}
