namespace Kit.Modes;

/// <summary>
/// What the build writes into an assembly about a package that the user's package feed may lack (build/OptionalPackages.targets). The SDK
/// writes it anew when one of the constructor's arguments has changed.
/// </summary>
/// <param name="name">The package's id.</param>
/// <param name="group">The packages that come and go together.</param>
/// <param name="version">The version wanted.</param>
/// <param name="choice">The group's switch: auto (also where nothing is set), true or false.</param>
/// <param name="folder">The folder that the package was taken from; empty where the assembly was built without it.</param>
/// <param name="answer">What NuGet said when it did not find the group.</param>
/// <param name="isFromFolder">Whether NuGet had it from a folder, and not from a package server.</param>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class OptionalPackageAttribute(
    string name, string group, string version, string choice, string folder, string answer, bool isFromFolder) : Attribute
{
    public string Name => name;

    public string Group => group;

    public string Version => version;

    public string Choice => choice;

    public string Folder => folder;

    public string Answer => answer;

    public bool IsFromFolder => isFromFolder;
}
