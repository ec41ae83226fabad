using Kit.Endpoints.Bare.PostgreSql.TwoPhase;

namespace Kit.Tests.TwoPhase;

/// <summary>When branches are gathered, and when each is ended by itself.</summary>
[Parallelizable]
public sealed class BranchesGatheredAlone
{
    [Test]
    public void While_several_come_together_none_is_skipped()
    {
        var pause = new GatheringPause();
        pause.Gathered(7);
        pause.Gathered(2);

        Assert.That(pause.TrySkip(), Is.False);
    }

    [Test]
    public void After_one_alone_the_next_are_skipped_and_then_it_is_tried_again()
    {
        var pause = new GatheringPause();
        pause.Gathered(1);

        Assert.That(SkippedBy(pause), Is.EqualTo(GatheringPause.Fewest));
    }

    [Test]
    public void Each_time_that_brings_one_alone_doubles_them_up_to_a_limit()
    {
        var pause = new GatheringPause();
        var skipped = new List<int>();
        for (var time = 0; time < 7; time++)
        {
            pause.Gathered(1);
            skipped.Add(SkippedBy(pause));
        }

        Assert.That(skipped, Is.EqualTo(new[] { 8, 16, 32, 64, 128, GatheringPause.Most, GatheringPause.Most }));
    }

    [Test]
    public void Several_together_begin_anew()
    {
        var pause = new GatheringPause();
        pause.Gathered(1);
        SkippedBy(pause);
        pause.Gathered(3);
        pause.Gathered(1);

        Assert.That(SkippedBy(pause), Is.EqualTo(GatheringPause.Fewest));
    }

    private static int SkippedBy(GatheringPause pause)
    {
        var skipped = 0;
        while (pause.TrySkip())
            skipped++;
        return skipped;
    }
}
