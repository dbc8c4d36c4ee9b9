package cvmsim

import (
	"time"
)

// worldKey is the record that holds what isn't about one thing alone.
const worldKey = "world"

// world is what the cloud holds: the market, the quotas and the instances. It
// does no IO, and its keeper lets one caller at a time at it.
type world struct {
	clock     func() time.Time // the base clock
	settings  worldSettings
	offset    time.Duration // what the clock was stepped by
	ordinal   uint64        // of the last instance
	instances map[string]*instance
	index     *index
	market    map[sku]*offer
	quotas    map[string]*quota
	usage     map[string]usage
	tokens    map[string]*launchMemory
	templates map[string]*launchTemplate
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

// worldSettings are the settings that can change while the server runs.
type worldSettings struct {
	LaunchDelay, ListingDelay, TagDelay      time.Duration
	TerminateDelay, LaunchFailedLinger       time.Duration
	EnforceRates, TagKeyNotFound, RecycleBin bool
	TagValuesPerKey                          int
	TokenMismatchCode                        string
	Balance                                  money
}

func newWorld(clock func() time.Time, settings worldSettings) *world {
	return &world{
		clock:     clock,
		settings:  settings,
		instances: map[string]*instance{},
		index:     newIndex(),
		market:    map[sku]*offer{},
		quotas:    map[string]*quota{},
		usage:     map[string]usage{},
		tokens:    map[string]*launchMemory{},
		templates: map[string]*launchTemplate{},
		tagKeys:   map[string]bool{},
		tagValues: tagBook{},
		addresses: map[string]string{},
		changed:   map[string]struct{}{},
		queries:   map[string]cachedQuery{},
	}
}

// touch marks a record as changed.
func (w *world) touch(key string) {
	w.changed[key] = struct{}{}
	w.generation++
}

// add puts a new instance into the world and schedules what is to come.
func (w *world) add(in *instance) {
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
	w.touch(in.key())
}

// remove takes an instance out of the world.
func (w *world) remove(in *instance) {
	w.release(in)
	if in.listed() {
		w.index.remove(in)
	}
	delete(w.instances, in.ID)
	delete(w.addresses, in.VPCID+"/"+in.PrivateIP)
	if in.Restock {
		w.changeOffer(in.sku(), func(o *offer) { o.Stock++ })
	}
	w.touch(in.key())
}

// release stops counting an instance against its zone's quota.
func (w *world) release(in *instance) {
	if !in.Uncounted {
		in.Uncounted = true
		w.account(in, -1)
	}
}

// settle ends PENDING, or another passing state, as was decided at its start.
func (w *world) settle(in *instance) {
	at := in.SettleAt
	in.State, in.SettleAt = in.SettleTo, time.Time{}
	in.OperationState = "SUCCESS"
	if in.State == stateLaunchFailed {
		in.OperationState, in.OperationError = "FAILED", in.SettleError
		in.Restock = true
		w.release(in)
		in.GoneAt = at.Add(w.settings.LaunchFailedLinger)
		w.schedule(in.GoneAt, in.ID, eventGone)
	}
	w.touch(in.key())
}

// beginTermination lets an instance go, visibly or at once.
func (w *world) beginTermination(in *instance, at time.Time, operation string) {
	in.State, in.Operation, in.OperationState = stateTerminating, operation, "OPERATING"
	in.SettleAt, in.ReclaimAt, in.TimerAt = time.Time{}, time.Time{}, time.Time{}
	in.Restock = true
	in.GoneAt = at.Add(w.settings.TerminateDelay)
	w.schedule(in.GoneAt, in.ID, eventGone)
	w.touch(in.key())
}

// showLateTags makes the changes of tags visible that are due.
func (w *world) showLateTags(in *instance, now time.Time) {
	tags, late := in.Tags, []lateTag(nil)
	for _, change := range in.Late {
		if change.At.After(now) {
			late = append(late, change)
			continue
		}
		tags = withTag(tags, change.Tag, change.Deleted)
	}
	in.Late = late
	if in.listed() {
		w.index.removeTags(in, in.Tags)
		w.index.addTags(in, tags)
	}
	in.Tags = tags
	w.touch(in.key())
}

// list makes a new instance show in listings.
func (w *world) list(in *instance) {
	in.ListedAt = time.Time{}
	w.index.add(in)
	w.touch(in.key())
}

// instance returns an instance that isn't gone, or nil.
func (w *world) instance(id string) *instance { return w.instances[id] }

// visible returns an instance that calls can name: one that exists, and shows
// in listings.
func (w *world) visible(id string) *instance {
	if in := w.instances[id]; in != nil && in.listed() {
		return in
	}
	return nil
}

// changeTags sets or deletes tags, visibly after the tag delay.
func (w *world) changeTags(in *instance, now time.Time, set []Tag, remove []string) {
	at := now.Add(w.settings.TagDelay)
	late := append([]lateTag(nil), in.Late...)
	for _, t := range set {
		late = append(late, lateTag{At: at, Tag: t})
	}
	w.rememberTags(set)
	for _, key := range remove {
		late = append(late, lateTag{At: at, Tag: Tag{Key: key}, Deleted: true})
	}
	in.Late = late
	w.touch(in.key())
	if w.settings.TagDelay <= 0 {
		w.showLateTags(in, now)
		return
	}
	w.schedule(at, in.ID, eventTags)
}

func (w *world) rememberTagKey(key string) {
	if !w.tagKeys[key] {
		w.tagKeys[key] = true
		w.touch(worldKey)
	}
}
