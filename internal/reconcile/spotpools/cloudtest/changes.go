package cloudtest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// expectTerminated checks that instances are gone, or about to be.
func (c Cloud) expectTerminated(t *testing.T, ids []string) {
	t.Helper()
	c.Step(settled)
	for _, i := range c.observe(t, ids...) {
		if !i.State.Ending() && i.State != spotpool.StateShutdown {
			t.Errorf("%s is %s after it was terminated", i.ID, i.State)
		}
	}
}

// expectRunning checks that instances are untouched.
func (c Cloud) expectRunning(t *testing.T, ids []string) {
	t.Helper()
	c.Step(settled)
	list := c.observe(t, ids...)
	expectIDs(t, "running", list, nil, ids)
	for _, i := range list {
		if i.State != spotpool.StateRunning {
			t.Errorf("%s is %s, want it untouched", i.ID, i.State)
		}
	}
}

// notEnded lists the instances that an error names as certainly not terminated.
func notEnded(err error) []string {
	var refused interface{ NotEnded() []string }
	if errors.As(err, &refused) {
		return refused.NotEnded()
	}
	return nil
}

// terminateGiven: whatever else the pool or another pool has keeps running.
func terminateGiven(t *testing.T, c Cloud) {
	mine, theirs := c.launch(t, "train", "uid-1"), c.launch(t, "train", "uid-2")
	ended, err := c.Terminate(t.Context(), c.Request.Region, c.observe(t, mine[0]))
	if err != nil || !slices.Equal(ended, mine[:1]) {
		t.Fatalf("terminated %v with the error %v, want %v", ended, err, mine[:1])
	}
	c.expectTerminated(t, mine[:1])
	c.expectRunning(t, slices.Concat(mine[1:], theirs))
}

// terminateAgain: a run that was killed after the call repeats it. An instance that is
// gone by then is a success, or the pool could never be destroyed.
func terminateAgain(t *testing.T, c Cloud) {
	ids := c.launch(t, "train", "uid-1")
	observed := c.observe(t, ids...)
	c.Reclaim(ids[0])
	for range 2 {
		ended, err := c.Terminate(t.Context(), c.Request.Region, observed)
		if slices.Sort(ended); err != nil || !slices.Equal(ended, ids) {
			t.Errorf("terminated %v with the error %v, want %v", ended, err, ids)
		}
	}
	c.expectTerminated(t, ids)
}

// terminateProtected: one refusal must not keep the others running, and the pool must
// learn which instance still works.
func terminateProtected(t *testing.T, c Cloud) {
	ids := c.launch(t, "train", "uid-1")
	observed := c.observe(t, ids...)
	c.Protect(ids[0]) // after the observation, so that the adapter cannot know
	ended, err := c.Terminate(t.Context(), c.Request.Region, observed)
	if !slices.Equal(ended, ids[1:]) || !slices.Equal(notEnded(err), ids[:1]) {
		t.Errorf("terminated %v with the error %v, want %v, and an error whose NotEnded lists %v", ended, err, ids[1:], ids[:1])
	}
	c.expectTerminated(t, ids[1:])
	c.expectRunning(t, ids[:1])
	if list := c.observe(t, ids[0]); !list[0].APIProtected {
		t.Errorf("%s is observed without its protection, so that each run would try again", ids[0])
	}
}

// terminateStarting: a cloud may refuse to terminate an instance before it runs. What
// Terminate returns is what happens.
func terminateStarting(t *testing.T, c Cloud) {
	starting, _, err := c.Launch(t.Context(), c.request("train", "uid-1", 1))
	if err != nil {
		t.Fatal(err)
	}
	ended, err := c.Terminate(t.Context(), c.Request.Region, c.observe(t, starting...))
	rest := slices.DeleteFunc(slices.Clone(starting), func(id string) bool { return slices.Contains(ended, id) })
	slices.Sort(rest)
	if !slices.Equal(notEnded(err), rest) && len(rest) > 0 {
		t.Errorf("terminated %v of %v with the error %v, want an error that lists the others", ended, starting, err)
	}
	c.expectTerminated(t, ended)
	c.expectRunning(t, rest)
}

// terminateElsewhere: an observation without this region is not of this pool, whatever
// its id.
func terminateElsewhere(t *testing.T, c Cloud) {
	ids := c.launch(t, "train", "uid-1")
	observed := c.observe(t, ids...)
	for n := range observed {
		observed[n].Region = "ap-elsewhere"
	}
	ended, err := c.Terminate(t.Context(), c.Request.Region, observed)
	if len(ended) > 0 || !slices.Equal(notEnded(err), ids) {
		t.Errorf("terminated %v with the error %v, want an error that lists %v", ended, err, ids)
	}
	c.expectRunning(t, ids)
}

// tagAndUntag: adopting tags instances, and detaching removes the pool's own tags and
// no others.
func tagAndUntag(t *testing.T, c Cloud) {
	ids, region := c.launch(t, "train", "uid-1"), c.Request.Region
	if err := c.Untag(t.Context(), region, ids, spotpool.OwnTags()); err != nil {
		t.Fatal(err)
	}
	c.expectPool(t, "uid-1", nil)
	c.expectRunning(t, ids)
	tags := map[string]string{spotpool.TagUID: "uid-2", spotpool.TagPool: "serve", spotpool.TagConfiguration: "1:x"}
	for range 2 { // a run that was killed in between repeats it
		if err := c.Tag(t.Context(), region, ids, tags); err != nil {
			t.Fatal(err)
		}
	}
	c.expectPool(t, "uid-2", ids)
	for _, i := range c.observe(t, ids...) {
		if i.PoolName != "serve" || i.ConfigurationTag != "1:x" || i.SeqTag != 0 {
			t.Errorf("%s has the pool %q, the configuration %q and the sequence %d", i.ID, i.PoolName, i.ConfigurationTag, i.SeqTag)
		}
	}
}

// tagGone: adoption must fail for an instance that is gone, and name it. Detaching need
// not: an instance that is gone has no tags to remove.
func tagGone(t *testing.T, c Cloud) {
	ids, region := c.launch(t, "train", "uid-1"), c.Request.Region
	c.Reclaim(ids[0])
	err := c.Tag(t.Context(), region, ids, map[string]string{spotpool.TagUID: "uid-2"})
	if err == nil || !strings.Contains(err.Error(), ids[0]) || strings.Contains(err.Error(), ids[1]) {
		t.Errorf("tag: got the error %v, want one that names only %s", err, ids[0])
	}
	c.expectPool(t, "uid-2", ids[1:])
	if err := c.Untag(t.Context(), region, ids, spotpool.OwnTags()); err != nil {
		t.Errorf("untag: %v", err)
	}
	c.expectPool(t, "uid-2", nil)
}

// protectionTag: people set it by hand to keep an instance.
func protectionTag(t *testing.T, c Cloud) {
	ids := c.launch(t, "train", "uid-1")
	if err := c.Tag(t.Context(), c.Request.Region, ids[:1], map[string]string{spotpool.TagProtected: "true"}); err != nil {
		t.Fatal(err)
	}
	for _, i := range c.observe(t, ids...) {
		if i.Protected != (i.ID == ids[0]) {
			t.Errorf("%s: protected is %v", i.ID, i.Protected)
		}
	}
}
