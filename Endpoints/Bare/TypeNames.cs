using System.Collections.Concurrent;
using System.Text.RegularExpressions;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Names of message types, in messages and subscriptions. They hold no version of an assembly: .NET's full name of a generic type has those of its
/// arguments' assemblies, and another build of the same type would have another name. Earlier versions of the kit wrote such names.
/// </summary>
internal static partial class TypeNames
{
    private static readonly ConcurrentDictionary<Type, string> Names = new();
    private static readonly ConcurrentDictionary<string, string> Earlier = new(StringComparer.Ordinal);

    /// <summary>The full name, and of a generic type the names of its arguments' assemblies, without their versions.</summary>
    public static string Of(Type type) => Names.GetOrAdd(type, static type =>
    {
        var full = type.FullName ?? type.Name;
        var name = WithoutVersions(full);
        if (!ReferenceEquals(name, full))
            Earlier[name] = full;
        return name;
    });

    /// <summary>The name of the same type, as earlier versions of the kit would have written it in this process; <see langword="null"/>: the same.</summary>
    public static string? EarlierOf(string name) => Earlier.GetValueOrDefault(name);

    /// <summary>The name that this version writes for the type that an earlier one named.</summary>
    public static string WithoutVersions(string name) => HasVersions(name) ? Versions().Replace(name, "") : name;

    public static bool HasVersions(string name) => name.Contains(", Version=", StringComparison.Ordinal);

    [GeneratedRegex(@", Version=[^],]*, Culture=[^],]*, PublicKeyToken=[^],]*", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Versions();
}
