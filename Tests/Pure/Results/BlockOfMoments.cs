using System.Security.Cryptography;
using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class BlockOfMoments
{
    private const string Cell = "bare/postgresql/full-dtc/ado";

    [TestCase(1)]
    [TestCase(5)]
    [TestCase(9)]
    public void Ten_thousand_commits_take_at_most_15_KB(double seconds)
    {
        var random = new Random(7);
        var block = new MomentBlock(Cell, 1, 1, Ascending(10_000, () => (long)(-Math.Log(1 - random.NextDouble()) * seconds * 100)));

        var bytes = block.ToBytes();

        Assert.That(bytes, Has.Length.LessThanOrEqualTo(15_000));
        Assert.That(MomentBlock.Read(bytes).Microseconds, Is.EqualTo(block.Microseconds));
    }

    [TestCase(0L)]
    [TestCase(1L)]
    [TestCase(255L)]
    [TestCase(256L)]
    [TestCase(5_000_000_000L)]
    [TestCase(1L << 39)]
    public void Every_gap_comes_back(long gap)
    {
        var block = new MomentBlock("framework/größe/mode", 3, 2, [0, gap, gap]);

        var read = MomentBlock.Read(block.ToBytes());

        Assert.That((read.Cell, read.Round, read.Attempt), Is.EqualTo((block.Cell, 3, 2)));
        Assert.That(read.Microseconds, Is.EqualTo(block.Microseconds));
    }

    [Test]
    public void None_is_a_block_too()
    {
        var bytes = new MomentBlock(Cell, 1, 1, []).ToBytes();

        Assert.That(MomentBlock.Read(bytes).Microseconds, Is.Empty);
        Assert.That(MomentBlock.LengthOf(bytes), Is.EqualTo(bytes.Length));
    }

    [Test]
    public void Moments_that_go_back_are_refused() => Assert.That(
        () => MomentBlock.Read(new MomentBlock(Cell, 1, 1, [10, 5]).ToBytes()),
        Throws.TypeOf<InvalidDataException>().With.Message.EqualTo("the block's moments are not ascending"));

    [Test]
    public void A_moment_that_no_drain_lasts_to_is_refused() => Assert.That(
        () => MomentBlock.Read(new MomentBlock(Cell, 1, 1, [1L << 60]).ToBytes()),
        Throws.TypeOf<InvalidDataException>().With.Message.Contains("later than ten days"));

    /// <summary>results/recompute.cs describes them.</summary>
    [Test]
    public void Its_bytes_are_as_described()
    {
        var bytes = new MomentBlock("a/b/c", 2, 1, [3]).ToBytes();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(Convert.ToHexString(bytes.AsSpan(..5)), Is.EqualTo("4B4D4F4D" + "01"));
            Assert.That(BitConverter.ToUInt32(bytes, 5), Is.EqualTo(bytes.Length - 9 - 8));
            Assert.That(Convert.ToHexString(bytes.AsSpan(9..29)), Is.EqualTo("0500" + "612F622F63" + "02000000" + "01000000" + "01000000" + "01"));
            Assert.That(bytes.AsSpan(^8..).ToArray(), Is.EqualTo(SHA256.HashData(bytes.AsSpan(..^8))[..8]));
        }
    }

    private static List<long> Ascending(int count, Func<long> gap)
    {
        var moments = new List<long>();
        for (var last = 0L; moments.Count < count; moments.Add(last))
            last += gap();
        return moments;
    }
}
