package world

import (
	"slices"
	"strings"
	"time"
)

// The tags that gpupool writes. The local CVM reads them only for its control surface.
const (
	PoolTag   = "gpupool/pool"
	UIDTag    = "gpupool/uid"
	SeqTag    = "gpupool/seq"
	ConfigTag = "gpupool/config"
)

// Tag is a tag of an instance.
type Tag struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

// lateTag is a change of a tag that is not visible yet.
type lateTag struct {
	At      time.Time
	Tag     Tag
	Deleted bool
}

func (in *Instance) tag(key string) (string, bool) {
	for _, t := range in.Tags {
		if t.Key == key {
			return t.Value, true
		}
	}
	return "", false
}

// FinalTags returns the tags after all late changes.
func (in *Instance) FinalTags() []Tag {
	tags := in.Tags
	for _, late := range in.Late {
		tags = WithTag(tags, late.Tag, late.Deleted)
	}
	return tags
}

// FinalTag returns the value of a tag after late changes.
func (in *Instance) FinalTag(key string) string {
	for _, t := range in.FinalTags() {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// WithTag returns a new sorted list with a tag set or deleted.
func WithTag(tags []Tag, tag Tag, deleted bool) []Tag {
	out := make([]Tag, 0, len(tags)+1)
	for _, t := range tags {
		if t.Key != tag.Key {
			out = append(out, t)
		}
	}
	if !deleted {
		out = append(out, tag)
		slices.SortFunc(out, func(a, b Tag) int { return strings.Compare(a.Key, b.Key) })
	}
	return out
}

// ChangeTags sets or deletes tags. Changes are visible after the tag delay.
func (w *World) ChangeTags(in *Instance, now time.Time, set []Tag, remove []string) {
	at := now.Add(w.Settings.TagDelay)
	late := append([]lateTag(nil), in.Late...)
	for _, t := range set {
		late = append(late, lateTag{At: at, Tag: t})
	}
	w.rememberTags(set)
	for _, key := range remove {
		late = append(late, lateTag{At: at, Tag: Tag{Key: key}, Deleted: true})
	}
	in.Late = late
	w.Instances.Changed(in)
	if w.Settings.TagDelay <= 0 {
		w.showLateTags(in, now)
		return
	}
	w.schedule(at, in.ID, eventTags)
}

func (w *World) showLateTags(in *Instance, now time.Time) {
	tags, late := in.Tags, []lateTag(nil)
	for _, change := range in.Late {
		if change.At.After(now) {
			late = append(late, change)
			continue
		}
		tags = WithTag(tags, change.Tag, change.Deleted)
	}
	in.Late = late
	if in.listed() {
		w.Instances.index.removeTags(in, in.Tags)
		w.Instances.index.addTags(in, tags)
	}
	in.Tags = tags
	w.Instances.Changed(in)
}

// TagBook contains every tag that was ever used, over all regions of the account. A tag outlives
// its resources.
type TagBook struct {
	table[Tag]
	values map[string]int // by key
}

// name separates key and value with a character that neither can have.
func (t Tag) name() string { return t.Key + "\x00" + t.Value }

// Has reports whether a tag was ever used.
func (b *TagBook) Has(t Tag) bool { return b.Get(t.name()) != nil }

// HasKey reports whether a tag key was ever used.
func (b *TagBook) HasKey(key string) bool { _, ok := b.values[key]; return ok }

// Values counts the values that were ever used with a tag key.
func (b *TagBook) Values(key string) int { return b.values[key] }

func (w *World) rememberTags(tags []Tag) {
	for _, t := range tags {
		if !w.Tags.HasKey(t.Key) {
			w.general.TagKeys = append(w.general.TagKeys, t.Key)
			slices.Sort(w.general.TagKeys)
			w.changes.touch(generalKind, "")
		}
		if !w.Tags.Has(t) {
			w.Tags.Put(t.name(), &t)
			w.Tags.values[t.Key]++
		}
	}
}
