// Package world is what the local CVM's cloud holds: the catalogue, the market,
// the account's quotas, instances and tags, the clock by which
// things fall due, and the directory that keeps it all. It knows no API.
package world

import (
	"cmp"
	"slices"
	"time"
)

// worldKey is the record that holds what isn't about one thing alone.
const worldKey = "world"

// World is what the cloud holds: the market, the quotas and the instances. It
// does no IO, and its keeper lets one caller at a time at it.
type World struct {
	clock     func() time.Time // the base clock
	Settings  Settings
	offset    time.Duration // what the clock was stepped by
	ordinal   uint64        // of the last instance
	instances map[string]*Instance
	index     *index
	market    map[SKU]*Offer
	quotas    map[string]*Quota
	usage     map[string]Usage
	tokens    map[string]*LaunchMemory
	tagKeys   map[string]bool // ever created
	tagValues tagBook         // ever used
	addresses map[string]string
	events    eventQueue

	// changed names the records that differ from what is stored, and
	// generation counts changes, for the cache of queries.
	changed    map[string]struct{}
	generation uint64
	queries    map[string]cachedQuery
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
	return &World{
		clock:     clock,
		Settings:  settings,
		instances: map[string]*Instance{},
		index:     newIndex(),
		market:    map[SKU]*Offer{},
		quotas:    map[string]*Quota{},
		usage:     map[string]Usage{},
		tokens:    map[string]*LaunchMemory{},
		tagKeys:   map[string]bool{},
		tagValues: tagBook{},
		addresses: map[string]string{},
		changed:   map[string]struct{}{},
		queries:   map[string]cachedQuery{},
	}
}

// Changed notes that an instance was changed.
func (w *World) Changed(r interface{ key() string }) { w.touch(r.key()) }

// touch marks a record as changed.
func (w *World) touch(key string) {
	w.changed[key] = struct{}{}
	w.generation++
}

// Add puts a new instance into the world and schedules what is to come.
func (w *World) Add(in *Instance) {
	w.instances[in.ID] = in
	if in.listed() {
		w.index.add(in)
	}
	w.addresses[in.VPCID+"/"+in.PrivateIP] = in.ID
	if !in.Uncounted {
		w.account(in, 1)
	}
	w.schedule(in.ListedAt, in.ID, eventListed)
	w.schedule(in.SettleAt, in.ID, eventSettle)
	for _, late := range in.Late {
		w.schedule(late.At, in.ID, eventTags)
	}
	w.schedule(in.ReclaimAt, in.ID, eventReclaim)
	w.schedule(in.TimerAt, in.ID, eventTimer)
	w.schedule(in.GoneAt, in.ID, eventGone)
	w.Changed(in)
}

// Remove takes an instance out of the world.
func (w *World) Remove(in *Instance) {
	w.release(in)
	if in.listed() {
		w.index.remove(in)
	}
	delete(w.instances, in.ID)
	delete(w.addresses, in.VPCID+"/"+in.PrivateIP)
	if in.Restock {
		w.ChangeOffer(in.sku(), func(o *Offer) { o.Stock++ })
	}
	w.Changed(in)
}

// release stops counting an instance against its zone's quota.
func (w *World) release(in *Instance) {
	if !in.Uncounted {
		in.Uncounted = true
		w.account(in, -1)
	}
}

// settle ends PENDING, or another passing state, as was decided at its start.
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
	w.Changed(in)
}

// BeginTermination lets an instance go, visibly or at once.
func (w *World) BeginTermination(in *Instance, at time.Time, operation string) {
	in.State, in.Operation, in.OperationState = stateTerminating, operation, "OPERATING"
	in.SettleAt, in.ReclaimAt, in.TimerAt = time.Time{}, time.Time{}, time.Time{}
	in.Restock = true
	in.GoneAt = at.Add(w.Settings.TerminateDelay)
	w.schedule(in.GoneAt, in.ID, eventGone)
	w.Changed(in)
}

// list makes a new instance show in listings.
func (w *World) list(in *Instance) {
	in.ListedAt = time.Time{}
	w.index.add(in)
	w.Changed(in)
}

// Instance returns an instance that isn't gone, or nil.
func (w *World) Instance(id string) *Instance { return w.instances[id] }

// Visible returns an instance that calls can name: one that exists, and shows
// in listings.
func (w *World) Visible(id string) *Instance {
	if in := w.instances[id]; in != nil && in.listed() {
		return in
	}
	return nil
}

// Ordered lists all instances in the order of their launches.
func (w *World) Ordered() []*Instance {
	all := make([]*Instance, 0, len(w.instances))
	for _, in := range w.instances {
		all = append(all, in)
	}
	slices.SortFunc(all, func(a, b *Instance) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return all
}

// Recycle puts an instance into the recycle bin, from where a second
// termination removes it.
func (w *World) Recycle(in *Instance) {
	in.State, in.IsolatedSource = StateShutdown, "MANMADE"
	in.Operation, in.OperationState = "TerminateInstances", "SUCCESS"
	in.SettleAt = time.Time{}
	w.release(in)
	w.Changed(in)
}

// AddressTaken reports whether an instance of the network has the address.
func (w *World) AddressTaken(vpc, address string) bool { return w.addresses[vpc+"/"+address] != "" }
