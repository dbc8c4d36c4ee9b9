// Package world is the state of the local CVM. It has the catalog, the market, the account's
// quotas, instances and tags, the clock, and the directory that stores it. It knows no API.
//
// It exports more than 40 names, since each API of cvmsim uses all of its parts. Each file has one
// part, such as instances (instance.go, launch.go, reclaim.go), offers (catalog.go, market.go),
// quota.go and tags.go.
package world

import (
	"encoding/json"
	"fmt"
	"time"
)

// World is the state by subject. It does no IO, and its store serializes access.
type World struct {
	Settings  Settings
	Instances *Instances
	Market    *Market
	Quotas    *Quotas
	Tags      *TagBook
	Tokens    table[LaunchMemory]

	clock   func() time.Time // the base clock
	general *general
	events  eventQueue
	kinds   kinds
	changes *changes
}

// Settings are the settings that can change while the server runs.
type Settings struct {
	LaunchDelay, ListingDelay, TagDelay      time.Duration
	TerminateDelay, LaunchFailedLinger       time.Duration
	EnforceRates, TagKeyNotFound, RecycleBin bool
	TagValuesPerKey                          int
	TokenMismatchCode                        string
	Balance                                  Money
}

func newWorld(clock func() time.Time, settings Settings) *World {
	k, c, g := kinds{}, &changes{keys: map[string]struct{}{}}, &general{}
	newTable[general](generalKind, k, c).rows[""] = g
	return &World{
		Settings: settings, clock: clock, general: g, kinds: k, changes: c,
		Instances: &Instances{
			table: newTable[Instance]("instance", k, c), index: newIndex(), addresses: map[string]string{}, queries: map[string]cachedQuery{},
		},
		Market: &Market{newTable[Offer]("market", k, c)},
		Quotas: &Quotas{newTable[Quota]("quota", k, c), map[string]Usage{}},
		Tags:   &TagBook{newTable[Tag]("tag", k, c), map[string]int{}},
		Tokens: newTable[LaunchMemory]("token", k, c),
	}
}

// restore fills an empty world from records.
func (w *World) restore(all map[string]json.RawMessage) error {
	if err := w.kinds.restore(all); err != nil {
		return err
	}
	for _, key := range w.general.TagKeys {
		w.Tags.values[key] = 0
	}
	for _, t := range w.Tags.rows {
		w.Tags.values[t.Key]++
	}
	for id, in := range w.Instances.rows {
		if TypeByName[in.Type] == nil || ZoneByID[in.Zone] == nil || in.ID != id {
			return fmt.Errorf("record instance/%s: its type, zone or id is not known", id)
		}
	}
	for _, in := range w.Instances.Ordered() {
		w.Add(in)
	}
	clear(w.changes.keys)
	return nil
}

// Add adds a new instance to the world and schedules its future changes.
func (w *World) Add(in *Instance) {
	w.Instances.add(in)
	if !in.Uncounted {
		w.Quotas.count(in, 1)
	}
	w.schedule(in.ListedAt, in.ID, eventListed)
	w.schedule(in.SettleAt, in.ID, eventSettle)
	for _, late := range in.Late {
		w.schedule(late.At, in.ID, eventTags)
	}
	w.schedule(in.ReclaimAt, in.ID, eventReclaim)
	w.schedule(in.TimerAt, in.ID, eventTimer)
	w.schedule(in.GoneAt, in.ID, eventGone)
}

// Remove removes an instance from the world.
func (w *World) Remove(in *Instance) {
	w.release(in)
	w.Instances.remove(in)
	if in.Restock {
		w.Market.Change(in.sku(), func(o *Offer) { o.Stock++ })
	}
}

// release stops counting an instance against its zone's quota.
func (w *World) release(in *Instance) {
	if !in.Uncounted {
		in.Uncounted = true
		w.Quotas.count(in, -1)
	}
}

// settle ends PENDING, or another transient state, as decided at its start.
func (w *World) settle(in *Instance) {
	at := in.SettleAt
	in.State, in.SettleAt = in.SettleTo, time.Time{}
	in.OperationState = "SUCCESS"
	if in.State == stateLaunchFailed {
		in.OperationState, in.OperationError = "FAILED", in.SettleError
		in.Restock = true
		w.release(in)
		in.GoneAt = at.Add(w.Settings.LaunchFailedLinger)
		w.schedule(in.GoneAt, in.ID, eventGone)
	}
	w.Instances.Changed(in)
}

// BeginTermination terminates an instance, visibly or at once.
func (w *World) BeginTermination(in *Instance, at time.Time, operation string) {
	in.State, in.Operation, in.OperationState = stateTerminating, operation, "OPERATING"
	in.SettleAt, in.ReclaimAt, in.TimerAt = time.Time{}, time.Time{}, time.Time{}
	in.Restock = true
	in.GoneAt = at.Add(w.Settings.TerminateDelay)
	w.schedule(in.GoneAt, in.ID, eventGone)
	w.Instances.Changed(in)
}

func (w *World) list(in *Instance) {
	in.ListedAt = time.Time{}
	w.Instances.index.add(in)
	w.Instances.Changed(in)
}

// Recycle moves an instance into the recycle bin, from which a second termination removes it.
func (w *World) Recycle(in *Instance) {
	in.State, in.IsolatedSource = StateShutdown, "MANMADE"
	in.Operation, in.OperationState = "TerminateInstances", "SUCCESS"
	in.SettleAt = time.Time{}
	w.release(in)
	w.Instances.Changed(in)
}
