using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>Finds a user without rights, as which root can run a throw-away server: PostgreSQL refuses to run as root.</summary>
public static class UnprivilegedUser
{
    /// <summary>The user to run a server as; <see langword="null"/>: our own.</summary>
    /// <param name="server">For a message.</param>
    /// <param name="usual">The user that the server's package creates.</param>
    /// <exception cref="KitException">We are root and the machine has none of the users that the kit looks for.</exception>
    public static async Task<string?> FindAsync(string server, string usual, CancellationToken cancellationToken)
    {
        // On Windows PostgreSQL's programs drop an administrator's rights themselves.
        if (OperatingSystem.IsWindows() || !Environment.IsPrivilegedProcess)
            return null;
        foreach (var user in new[] { usual, "nobody" })
        {
            if ((await new ExternalProgram("id").RunAsync(["-u", user], cancellationToken)).Succeeded)
                return user;
        }

        throw new KitException(
            $"{server} does not run as root, and there is neither a user '{usual}' nor a user 'nobody' to run it as.",
            $"Run the kit as an ordinary user, or add a user named {usual}.");
    }
}
