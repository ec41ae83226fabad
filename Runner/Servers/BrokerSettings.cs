using System.Collections;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Kit.Runner.Servers;

/// <summary>The settings of the private broker, each with its reason. All others are the broker's defaults.</summary>
public static class BrokerSettings
{
    /// <summary>The text of the configuration file.</summary>
    public static string For(BrokerFolder folder, BrokerPorts ports) => string.Create(CultureInfo.InvariantCulture, $"""
        # Reachable only from this machine.
        listeners.tcp.1 = 127.0.0.1:{ports.Amqp}
        management.tcp.ip = 127.0.0.1
        management.tcp.port = {ports.Management}

        # One user and one virtual host; with definitions, the broker creates no guest.
        load_definitions = {folder.Definitions}

        # No alarm on a small machine: 10,000 small messages need far less.
        disk_free_limit.absolute = 200MB
        vm_memory_high_watermark.absolute = 2GB

        log.file.level = info
        log.console = false

        """);

    /// <summary>
    /// The text of the definitions file: a user with all permissions, in a virtual host. It contains the salted hash of the password that
    /// https://www.rabbitmq.com/docs/passwords describes.
    /// </summary>
    public static string Definitions(string user, string password, string virtualHost)
    {
        var salt = RandomNumberGenerator.GetBytes(4);
        byte[] hash = [.. salt, .. SHA256.HashData([.. salt, .. Encoding.UTF8.GetBytes(password)])];
        return JsonSerializer.Serialize(new
        {
            users = new[]
            {
                new
                {
                    name = user,
                    password_hash = Convert.ToBase64String(hash),
                    hashing_algorithm = "rabbit_password_hashing_sha256",
                    tags = "administrator",
                },
            },
            vhosts = new[] { new { name = virtualHost } },
            permissions = new[] { new { user, vhost = virtualHost, configure = ".*", write = ".*", read = ".*" } },
        });
    }

    /// <summary>The environment of broker and port mapper; <see langword="null"/> removes a variable.</summary>
    public static IReadOnlyDictionary<string, string?> Environment(BrokerFolder folder, BrokerPorts ports)
    {
        var variables = new Dictionary<string, string?>(StringComparer.Ordinal);
        // Settings of the user's own broker.
        foreach (var name in System.Environment.GetEnvironmentVariables().Cast<DictionaryEntry>().Select(variable => (string)variable.Key))
        {
            if (name.StartsWith("RABBITMQ_", StringComparison.Ordinal) || name.StartsWith("ERL_", StringComparison.Ordinal))
                variables[name] = null;
        }

        // The cookie, by which Erlang's nodes know each other, is here.
        variables["HOME"] = folder.Home;
        variables["LANG"] = variables["LC_ALL"] = "C.UTF-8";
        variables["RABBITMQ_NODENAME"] = $"{folder.Owned.Name}@localhost";
        variables["RABBITMQ_NODE_IP_ADDRESS"] = variables["ERL_EPMD_ADDRESS"] = "127.0.0.1";
        variables["RABBITMQ_NODE_PORT"] = $"{ports.Amqp}";
        variables["RABBITMQ_DIST_PORT"] = $"{ports.Distribution}";
        variables["ERL_EPMD_PORT"] = $"{ports.PortMapper}";
        variables["RABBITMQ_MNESIA_BASE"] = folder.Data;
        variables["RABBITMQ_LOG_BASE"] = folder.Server;
        variables["RABBITMQ_LOGS"] = folder.Log;
        variables["RABBITMQ_CONFIG_FILE"] = folder.Settings;
        variables["RABBITMQ_ENABLED_PLUGINS_FILE"] = folder.Plugins;
        // These files do not exist; without the variables the broker would read those of the machine's own broker.
        variables["RABBITMQ_CONFIG_FILES"] = Path.Combine(folder.Server, "conf.d");
        variables["RABBITMQ_ADVANCED_CONFIG_FILE"] = Path.Combine(folder.Server, "advanced.config");
        variables["RABBITMQ_CONF_ENV_FILE"] = Path.Combine(folder.Server, "rabbitmq-env.conf");
        // The second: ignore Ctrl+C, if there is no setsid.
        variables["RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS"] = "-kernel inet_dist_use_interface {127,0,0,1} +B i";
        // The script then becomes the broker instead of watching it.
        variables["RUNNING_UNDER_SYSTEMD"] = "true";
        variables["NOTIFY_SOCKET"] = null;
        // No memory dump after a crash.
        variables["ERL_CRASH_DUMP_SECONDS"] = "0";
        return variables;
    }
}

/// <summary>The loopback ports of a private broker.</summary>
/// <param name="Amqp">For clients.</param>
/// <param name="Management">For HTTP, to the management plugin.</param>
/// <param name="Distribution">For other Erlang nodes and the command line tools.</param>
/// <param name="PortMapper">For epmd, which tells them the distribution port.</param>
public sealed record BrokerPorts(int Amqp, int Management, int Distribution, int PortMapper)
{
    public static BrokerPorts Free() => LoopbackPorts.Free(4) is [var amqp, var management, var distribution, var mapper]
        ? new BrokerPorts(amqp, management, distribution, mapper)
        : throw new InvalidOperationException("Four ports were asked for.");
}
