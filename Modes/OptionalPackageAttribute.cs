namespace Kit.Modes;

/// <summary>
/// The build writes this into an assembly for each package that the user's package feed may lack (build/OptionalPackages.targets). The SDK
/// rewrites it when a constructor argument changes.
/// </summary>
/// <param name="name">The package's id.</param>
/// <param name="group">The group that it is used or left out with.</param>
/// <param name="version">The requested version.</param>
/// <param name="choice">The group's switch: auto (the default), true or false.</param>
/// <param name="folder">The folder that the package came from; empty if the assembly was built without it.</param>
/// <param name="answer">NuGet's answer when it did not find the group.</param>
/// <param name="isFromFolder">Whether NuGet found it in a folder, and not on a package server.</param>
/// <param name="isUnknown">Whether the feed gave no answer in time, or was out of reach: nobody knows whether it has the package.</param>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class OptionalPackageAttribute(
    string name, string group, string version, string choice, string folder, string answer, bool isFromFolder, bool isUnknown) : Attribute
{
    public string Name => name;

    public string Group => group;

    public string Version => version;

    public string Choice => choice;

    public string Folder => folder;

    public string Answer => answer;

    public bool IsFromFolder => isFromFolder;

    public bool IsUnknown => isUnknown;
}
