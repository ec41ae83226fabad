using Kit.Prove.Files;

namespace Kit.Tests.Proofs;

public sealed class TextsWithPlaceholders
{
    [TestCase("postgres://{{postgresql:orders:host}}/", ExpectedResult = true)]
    [TestCase("{{postgresql:orders}}", ExpectedResult = true)]
    [TestCase("{{postgresql:orders2}}", ExpectedResult = false)]
    [TestCase("{{postgresql:orders2:uri}}", ExpectedResult = false)]
    [TestCase("postgresql:orders", ExpectedResult = false)]
    public bool Name_a_server_by_its_whole_name(string text) => Placeholders.NameServer(text, "postgresql:orders");
}
