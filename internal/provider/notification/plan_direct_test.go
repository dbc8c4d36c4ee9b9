package notification_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// Each refresh reports a delivery that fails, until one succeeds.
func TestRefreshWarnsOfFailedDeliveries(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	deliver(t, w, fail)
	o, diags := s.Read(o)
	contains(t, diags, "WARNING", "Notification ops", "no_service: Slack refused the message", "Create the webhook again in Slack", "2026-11-26T13:00:00Z")
	if p := s.Plan(o, values(nil)); len(p.Diagnostics) > 0 || !p.State.Equal(o.State) {
		t.Errorf("the plan changes %s: %s", p.State, p.Diagnostics)
	}
	deliver(t, w, func(j *core.Journal) {
		j.Failure, j.FailingSince, j.NextAt, j.Attempts, j.Delivered = nil, time.Time{}, time.Time{}, 0, 1
	})
	after, diags := s.Read(o)
	if len(diags) > 0 || !after.State.Equal(o.State) {
		t.Errorf("after a delivery: %s", diags)
	}
	s.Destroy(o)
	nothingRecorded(t, w)
}

// A destruction reports the events that were not delivered.
func TestDestructionReportsUndeliveredEvents(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	now := time.Now().UTC()
	deliver(t, w, func(j *core.Journal) {
		j.Pending = []core.Line{{ID: "e-1", At: now, Kind: history.Exceeded, Object: "budget/team-a", Severity: core.Critical, ClaimedAt: now}}
		j.LeftOut = 2
	})
	_, diags := s.Apply(s.Plan(o, nil))
	contains(t, diags, "WARNING", "Notification ops had events to deliver", "3 events that it had not delivered", "gpupool history")
	nothingRecorded(t, w)
}

// An existing notification is not overwritten. A plan cannot refuse it, since a replacement
// destroys it first.
func TestNameThatIsTaken(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	again := s.Plan(nil, values(nil))
	contains(t, again.Diagnostics, "WARNING", "Notification ops exists already", "terraform import ADDRESS ops")
	_, diags := s.Apply(again)
	contains(t, diags, "ERROR", "Notification exists already")
	s.Destroy(o)
}

// Another store than the one with the record is refused by each operation: both would send.
func TestAnotherStoreIsRefused(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	own := serve(t, w, nil)
	o := create(t, own, values(nil))
	other := serve(t, w, providertest.Values{"store": providertest.Values{"directory": filepath.Join(t.TempDir(), "store")}})
	changed := values(providertest.Values{"digest": "1h"})
	update, destruction := own.Plan(o, changed), own.Plan(o, nil)
	_, read := other.Read(o)
	_, updated := other.Apply(update)
	_, destroyed := other.Apply(destruction)
	for doing, diags := range map[string]providertest.Diagnostics{
		"a refresh": read, "a plan": other.Plan(o, changed).Diagnostics, "a plan to destroy it": other.Plan(o, nil).Diagnostics,
		"an update": updated, "a destruction": destroyed,
	} {
		t.Log(doing)
		contains(t, diags, "ERROR", "Notification is not in this store", "gpupool store move")
	}
	own.Destroy(o)
}

// A record that is missing is written again with the same UID, and a destruction needs one.
func TestLostRecord(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	forget(t, w)
	o, _ = s.Read(o)
	contains(t, s.Plan(o, nil).Diagnostics, "ERROR", "Notification is not in this store")
	p := s.Plan(o, values(nil))
	contains(t, p.Diagnostics, "WARNING", "Notification ops is not recorded", "no run sends its messages")
	if p.Attribute("generation") != providertest.Unknown || p.Attribute("uid") != o.Attribute("uid") {
		t.Errorf("planned generation %v of %v", p.Attribute("generation"), p.Attribute("uid"))
	}
	o, diags := s.Apply(p)
	if d := recorded(t, w); len(diags) > 0 || d.UID != o.Attribute("uid") || d.URL == "" {
		t.Errorf("recorded again: %s", diags)
	}
	s.Destroy(o)
}

// A begun deletion is finished, and a plan of the configuration replaces the notification.
func TestInterruptedDeletionIsFinished(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	update := s.Plan(o, values(providertest.Values{"digest": "1h"}))
	rewrite(t, w, func(r *declaration.Notification) { r.Phase = declaration.Deleting })
	_, diags := s.Apply(update)
	contains(t, diags, "ERROR", "was begun and not finished")
	o, diags = s.Read(o)
	contains(t, diags, "WARNING", "was begun and not finished")
	again := s.Plan(o, values(nil))
	contains(t, again.Diagnostics, "WARNING", "The deletion of notification ops was begun", "Applying this plan finishes it")
	if len(again.Replaces) != 1 {
		t.Errorf("the plan replaces %v", again.Replaces)
	}
	s.Destroy(o)
	nothingRecorded(t, w)
	if o, diags = s.Read(o); len(diags) > 0 || !o.State.IsNull() {
		t.Errorf("after the destruction: %v %s", o.State, diags)
	}
}

// An update after the plan takes precedence.
func TestPlanOfAnOlderGeneration(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	late := s.Plan(o, values(providertest.Values{"digest": "1h"}))
	o = apply(t, s, o, values(providertest.Values{"digest": "2h"}))
	_, diags := s.Apply(late)
	contains(t, diags, "ERROR", "changed after this plan", "plan again")
	s.Destroy(o)
}

// Another type with the same version keeps the address of the former receiver.
func TestPlanWarnsOfTheFormerAddress(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	contains(t, s.Plan(o, values(providertest.Values{"type": "teams"})).Diagnostics, "WARNING", `"url_wo_version"`,
		"The type changes from slack to teams, and url_wo_version stays 1", "keeps the address of slack")
	o = apply(t, s, o, values(providertest.Values{"type": "teams", "url_wo": "https://teams.example/2", "url_wo_version": 2}))
	if d := recorded(t, w); d.Type != core.Teams || d.URL != "https://teams.example/2" {
		t.Error("the new address was not applied")
	}
	s.Destroy(o)
}

// A version without its value at apply changes nothing.
func TestVersionWithoutAValueAtApply(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	o := create(t, s, values(nil))
	_, diags := s.Apply(s.Plan(o, values(providertest.Values{"url_wo": nil, "url_wo_version": 2})))
	contains(t, diags, "ERROR", "has version 1 of url_wo of notification/ops, not 2")
	if d := recorded(t, w); d.URLVersion != 1 || d.Generation != 1 {
		t.Errorf("the record has version %d", d.URLVersion)
	}
	s.Destroy(o)
}

func TestLockedNotification(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	lock, err := w.Store().Lock(t.Context(), "notification/ops", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, diags := s.Apply(s.Plan(nil, values(providertest.Values{"timeouts": providertest.Values{"create": "1s"}})))
	contains(t, diags, "ERROR", "Notification is locked")
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	s.Destroy(create(t, s, values(nil)))
}

func TestMalformedImports(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w, nil)
	for id, want := range map[string]string{
		"On Call": "is not the name of a notification", "a/b": "is not the name of a notification", "chat": "has no notification \"chat\"",
	} {
		_, diags := s.Import(id, nil)
		contains(t, diags, want)
	}
	o := create(t, s, values(nil))
	found, diags := s.Import("", providertest.Values{"name": "ops"})
	if len(diags) > 0 || found.Attribute("uid") != o.Attribute("uid") || found.Attribute("url_wo") != nil {
		t.Errorf("by its identity: %s", diags)
	}
	s.Destroy(o)
}
