package decide_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// opened adds an open intent of launch 7, for n instances in zone 2, two minutes
// old.
func opened(s decide.Situation, n int) decide.Situation {
	d := s.Declaration
	s.Journal = decide.Decide(s).Journal.Open(launches.Launch{Request: spotpool.Request{
		Region: d.Region, Pool: d.Name, UID: d.UID, Sequence: 7, SeqTag: 7, Token: launches.Token(d.UID, salt, 7),
		Offering: d.Offerings[0], ChargeType: spotpool.Spot, Count: n, Configuration: d.Configuration,
	}, WrittenAt: ago(2 * time.Minute)})
	return s
}

func ofLaunch(sequence int64) func(*spotpool.Instance) {
	return func(i *spotpool.Instance) { i.SeqTag, i.LaunchedAt = sequence, ago(time.Minute) }
}

func TestAnOpenLaunchIsAskedForAgain(t *testing.T) {
	t.Parallel()
	s := opened(seen(pool()), 2)
	// The declaration changes meanwhile: the request must not.
	s.Declaration.ImageID = "img-ffffffff"
	s.Declaration.Offerings = s.Declaration.Offerings[1:]
	p := decide.Decide(s)
	shouldDecide(t, p, "retry launch 7: 2 spot GN7.2XLARGE32 in ap-singapore-2")
	d := p.Decisions[0]
	if !d.Resume || d.Token != launches.Token(uid, salt, 7) || d.Request.ImageID != "img-a1b2c3d4" || d.Request.Token != d.Token {
		t.Errorf("it is not the same request: %+v", d.Request)
	}
	if p.Total != 2 || p.Capacity != 0 {
		t.Errorf("total %d and capacity %d, want 2 and 0: the launch may have taken effect", p.Total, p.Capacity)
	}
}

func TestAnOpenLaunchTakesRoom(t *testing.T) {
	t.Parallel()
	shouldDecide(t, decide.Decide(opened(seen(pool(size(4, 5)), instance("ins-1")), 2)),
		"retry launch 7: 2 spot GN7.2XLARGE32 in ap-singapore-2",
		"launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	shouldDecide(t, decide.Decide(opened(seen(pool(size(4, 4)), instance("ins-1")), 3)),
		"retry launch 7: 3 spot GN7.2XLARGE32 in ap-singapore-2")
}

func TestAnOpenLaunchIsClosedByWhatShows(t *testing.T) {
	t.Parallel()
	base := opened(seen(pool()), 2)
	one, two := instance("ins-1", ofLaunch(7)), instance("ins-2", ofLaunch(7))
	with := func(list ...spotpool.Instance) decide.Situation {
		s := base
		s.Observation.Instances = list
		return s
	}

	p := decide.Decide(with(one, two))
	shouldDecide(t, p)
	if len(p.Journal.Pending) > 0 || p.Total != 2 {
		t.Errorf("total %d, and open: %+v", p.Total, p.Journal.Pending)
	}

	p = decide.Decide(with(one))
	shouldDecide(t, p)
	if p.Total != 2 || p.Capacity != 1 || p.Journal.Missing() != 1 {
		t.Errorf("total %d, capacity %d and %d open while one of two shows, want 2, 1 and 1", p.Total, p.Capacity, p.Journal.Missing())
	}
	shouldSay(t, "short", p.Short.Texts(), "launch 7 shows 1 of its 2 instances so far")

	// The one that showed is proof that it took effect, also once reclaimed.
	s := with()
	s.Journal = p.Journal
	shouldDecide(t, decide.Decide(s), "launch 1 spot GN7.2XLARGE32 in ap-singapore-3")

	// A launch that has not been listed for long is not waited for.
	s = with(one)
	s.Now = s.Now.Add(9 * time.Minute)
	p = decide.Decide(s)
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	if len(p.Journal.Pending) > 0 {
		t.Errorf("still open: %+v", p.Journal.Pending)
	}
}

func TestAnAcceptedLaunchIsHeldBeforeItIsListed(t *testing.T) {
	t.Parallel()
	s := seen(pool())
	p := decide.Decide(s)
	shouldDecide(t, p, "launch 2 spot GN7.2XLARGE32 in ap-singapore-2")
	open := launches.Launch{Request: *p.Decisions[0].Request, WrittenAt: noon}
	s.Journal = p.Journal.Open(open).Accept(p.Decisions[0].Sequence, []string{"ins-2", "ins-1"}, noon)

	s.Now = noon.Add(30 * time.Second)
	p = decide.Decide(s)
	shouldDecide(t, p)
	if p.Total != 2 || p.Capacity != 2 {
		t.Errorf("total %d and capacity %d, want 2 and 2", p.Total, p.Capacity)
	}

	// Listed without tags, they are held as they are.
	s.Observation.Instances = []spotpool.Instance{
		instance("ins-1", untagged, launched(noon)), instance("ins-2", untagged, launched(noon)),
	}
	s.Journal = p.Journal
	s.Now = noon.Add(5 * time.Minute)
	p = decide.Decide(s)
	shouldDecide(t, p)
	if p.Total != 2 || p.Capacity != 2 || !p.Members[0].Untagged {
		t.Errorf("total %d and capacity %d, want 2 and 2", p.Total, p.Capacity)
	}
	s.Declaration.Minimum, s.Declaration.Maximum = 0, 0
	p = decide.Decide(s)
	shouldDecide(t, p) // nothing without the pool's tags is ended

	// An instance that is not listed after a minute is gone.
	s.Declaration = pool()
	s.Observation.Instances = s.Observation.Instances[:1]
	p = decide.Decide(s)
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-3")
}

func untagged(i *spotpool.Instance) {
	i.PoolUID, i.PoolName, i.SeqTag, i.ConfigurationTag = "", "", 0, "none"
}

func TestTagsThatNeverComeAreWarnedOf(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 2)), instance("ins-1", untagged))
	open := launches.Launch{Request: spotpool.Request{Sequence: 1, Count: 1}, WrittenAt: ago(time.Hour)}
	s.Journal = s.Journal.Open(open).Accept(1, []string{"ins-1"}, ago(time.Hour))
	p := decide.Decide(s)
	shouldDecide(t, p)
	shouldSay(t, "warnings", p.Warnings.Texts(), "ins-1 (RUNNING) still has none of the pool's tags: counted in the total, and never terminated by the pool. "+
		"Set the tag gpupool/uid = "+uid+", or terminate")
}

func TestUntaggedInstanceIsReleased(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 2)), instance("ins-1"))
	s.Journal = decide.Decide(s).Journal
	s.Now = s.Now.Add(time.Hour)
	s.Observation.Instances = []spotpool.Instance{instance("ins-1", untagged)}
	p := decide.Decide(s)
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-3")
	shouldSay(t, "notices", p.Messages.Texts(),
		"ins-1 (GN7.2XLARGE32 in ap-singapore-2) is gone: reclaimed by Tencent Cloud, or terminated or untagged by hand")
}

func TestSequencesGoOnWhereTheJournalWasLost(t *testing.T) {
	t.Parallel()
	p := decide.Decide(seen(pool(), instance("ins-1", ofLaunch(41))))
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	if d := p.Decisions[0]; d.Sequence != 42 || d.Token != launches.Token(uid, salt, 42) {
		t.Errorf("launch %d with the token %s, want 42 and its own", d.Sequence, d.Token)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	got := launches.Token(uid, salt, 1)
	if want := "c85448166271465cf456126f35100132"; got != want {
		t.Errorf("the token is %q, and was %q: launches in flight would be launched twice", got, want)
	}
	for _, other := range []string{
		launches.Token(uid+"1", salt, 1), launches.Token(uid, salt+"1", 1), launches.Token(uid, salt, 2), launches.Token(uid, salt, 11),
	} {
		if other == got {
			t.Error("two launches share a token")
		}
	}
	if launches.Token(uid, "", 1) != "" {
		t.Error("without a salt there is a token, which may have been used before")
	}
}

// A listed instance that is missing later is gone at once.
func TestListedInstanceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 2)))
	request := spotpool.Request{Sequence: 1, Count: 1, Offering: offering(zone2, t4), ChargeType: spotpool.Spot}
	s.Journal = s.Journal.Open(launches.Launch{Request: request, WrittenAt: noon}).Accept(1, []string{"ins-1"}, noon)
	shouldDecide(t, decide.Decide(s))
	s.Journal.Fleet = s.Journal.MarkListed([]string{"ins-1", "ins-2"})
	shouldDecide(t, decide.Decide(s), "launch 1 spot GN7.2XLARGE32 in ap-singapore-3")
}

func TestAnAdoptedInstanceIsHeldBeforeItsTagsShow(t *testing.T) {
	t.Parallel()
	found := instance("ins-1", untagged)
	s := seen(pool(size(1, 2)), found)
	s.Journal = s.Journal.Adopt([]spotpool.Instance{found}, noon)
	p := decide.Decide(s)
	shouldDecide(t, p)
	if p.Capacity != 1 {
		t.Errorf("capacity %d, want 1", p.Capacity)
	}
	s.Observation.Instances = nil
	shouldDecide(t, decide.Decide(s), "launch 1 spot GN7.2XLARGE32 in ap-singapore-3")
}

// A refusal speaks of its own call. What an earlier one launched, whose answer
// was lost, may show until its tags must have arrived.
func TestARefusalClosesALaunchThatWasNotLost(t *testing.T) {
	t.Parallel()
	refusal := func(class errorclass.Class, nothing bool) *spotpool.CloudError {
		return &spotpool.CloudError{Class: class, Scope: spotpool.ScopeOffering, NothingLaunched: nothing}
	}
	open := opened(seen(pool()), 2).Journal // written down two minutes ago
	shouldClose := func(j journal.Journal, class errorclass.Class, after time.Duration, want bool) {
		t.Helper()
		if _, state := j.Refuse(7, refusal(class, true), 0, noon.Add(after)); (state == launches.Refused) != want {
			t.Errorf("%s after %s: %s, want closed %t", class, after, state, want)
		}
		if _, state := j.Refuse(7, refusal(class, false), 0, noon.Add(after)); state == launches.Refused {
			t.Errorf("%s after %s: closed, though the call may have launched something", class, after)
		}
	}
	for _, class := range []errorclass.Class{
		errorclass.Capacity, errorclass.Price, errorclass.Quota, errorclass.Configuration, errorclass.Transient, errorclass.Authorization,
	} {
		shouldClose(open, class, 0, true) // it was never asked for before
		again := open.Retry(7, noon)
		shouldClose(again, class, 0, false)
		shouldClose(again, class, 7*time.Minute, false)
		shouldClose(again, class, 9*time.Minute, true)
		// A second answer that is lost counts from there; one that comes does not.
		shouldClose(again.Retry(7, noon.Add(5*time.Minute)), class, 9*time.Minute, false)
		shouldClose(again.Retry(7, noon.Add(5*time.Minute)), class, 11*time.Minute, true)
		answered, _ := again.Refuse(7, refusal(class, true), 0, noon)
		shouldClose(answered.Retry(7, noon.Add(5*time.Minute)), class, 9*time.Minute, true)
	}
}

// A call may take minutes: what was accepted late has its time to be listed from
// the answer on.
func TestAnAcceptanceIsDatedByItsAnswer(t *testing.T) {
	t.Parallel()
	s := opened(seen(pool()), 2)
	s.Journal = s.Journal.Accept(7, []string{"ins-1", "ins-2"}, ago(30*time.Second))
	s.Now = noon.Add(time.Minute) // 30 seconds and a minute after the answer, three minutes after it was asked for
	p := decide.Decide(s)
	shouldDecide(t, p)
	if p.Total != 2 || p.Capacity != 2 || len(p.Messages) > 0 {
		t.Errorf("total %d, capacity %d, %q", p.Total, p.Capacity, p.Messages)
	}
	s.Now = noon.Add(2 * time.Minute)
	shouldDecide(t, decide.Decide(s), "launch 2 spot GN7.2XLARGE32 in ap-singapore-3")
}

// If the journal was lost and its instances with it, sequences begin again and tokens do not.
func TestALostJournalRepeatsNoToken(t *testing.T) {
	t.Parallel()
	s := seen(pool())
	before := decide.Decide(s).Decisions[0]
	s.Journal = journal.Journal{}.Salted("another")
	after := decide.Decide(s).Decisions[0]
	if before.Sequence != after.Sequence || before.Token == after.Token || after.Token == "" {
		t.Errorf("launch %d with %q, and after the loss launch %d with %q", before.Sequence, before.Token, after.Sequence, after.Token)
	}
}

// Until all that may have been launched before its loss is listed, a pool without a
// journal launches nothing, whatever it lacks.
func TestAPoolWithoutAJournalLaunchesNothing(t *testing.T) {
	t.Parallel()
	s := seen(pool(refreshing(spotpool.RefreshRolling, 1, 1)), instance("ins-1", drifted))
	s.Journal = journal.Journal{}
	p := decide.Decide(s)
	shouldDecide(t, p)
	const why = "its journal was missing, or an old copy, at 2026-03-01T12:00:00Z, so recent launches may not be listed yet: " +
		"nothing is launched until 2026-03-01T12:10:00Z. Any apply or reconcile after that launches the missing instances"
	shouldSay(t, "short", p.Short.Texts(), why)
	s.Observation.Instances = append(s.Observation.Instances, instance("ins-2"))
	shouldSay(t, "warnings", decide.Decide(s).Warnings.Texts(), why) // it lacks nothing, and may in a moment
	s.Observation.Instances = s.Observation.Instances[:1]
	s.Journal, s.Now = p.Journal.Salted("another"), noon.Add(10*time.Minute)
	shouldDecide(t, decide.Decide(s))
	s.Now = s.Now.Add(time.Second)
	after := decide.Decide(s)
	shouldDecide(t, after, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2", "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	if !after.Journal.LostAt.IsZero() {
		t.Errorf("the journal was lost at %s still", after.Journal.LostAt)
	}
}

// The tag gpupool/seq has the lowest number that no current launch has: Tencent Cloud limits
// how many values a key may have over time.
func TestNumbersOfTagsAreUsedAgain(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(5, 9)), instance("ins-1", ofLaunch(1)), instance("ins-2", ofLaunch(4)))
	s.Journal.LastSequence = 40
	s.Journal.Past = []fleet.Past{
		{InstanceID: "ins-3", SeqTag: 2, EndedAt: ago(spotpool.TagLag)}, // a listing may still show it
		{InstanceID: "ins-4", SeqTag: 3, EndedAt: ago(spotpool.TagLag + time.Second)},
	}
	p := decide.Decide(s)
	if d := p.Decisions[0]; d.Sequence != 41 || d.Request.SeqTag != 3 {
		t.Errorf("launch %d has the tag %d, want 41 and 3", d.Sequence, d.Request.SeqTag)
	}

	// An older instance with the number of an open launch is not of it.
	s = opened(seen(pool()), 1)
	s.Observation.Instances = []spotpool.Instance{instance("ins-1", ofLaunch(7), launched(ago(10*time.Minute)))}
	p = decide.Decide(s)
	shouldDecide(t, p, "retry launch 7: 1 spot GN7.2XLARGE32 in ap-singapore-2")
}
