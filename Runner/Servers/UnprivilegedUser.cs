using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>PostgreSQL refuses to run as root, and a throw-away server has no need to; root lends it to a user without rights.</summary>
public static class UnprivilegedUser
{
    /// <summary>The user to run a server as; <see langword="null"/> where our own will do.</summary>
    /// <param name="server">The server, in words.</param>
    /// <param name="usual">The user that the server's package makes.</param>
    /// <exception cref="KitException">We are root and the machine has none of the users that the kit looks for.</exception>
    public static async Task<string?> FindAsync(string server, string usual, CancellationToken cancellationToken)
    {
        // On Windows PostgreSQL's programs give up an administrator's rights by themselves.
        if (OperatingSystem.IsWindows() || !Environment.IsPrivilegedProcess)
            return null;
        foreach (var user in new[] { usual, "nobody" })
        {
            if ((await new ExternalProgram("id").RunAsync(["-u", user], cancellationToken)).Succeeded)
                return user;
        }

        throw new KitException(
            $"{server} does not run as root, and there is no user {usual} or nobody to run it as.",
            $"Run the kit as an ordinary user, or add a user named {usual}.");
    }
}
