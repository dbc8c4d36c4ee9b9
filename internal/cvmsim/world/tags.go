package world

import (
	"slices"
	"strings"
	"time"
)

// The tags that gpupool writes. The local CVM reads them for its control
// surface alone.
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

// lateTag is a change of a tag that isn't visible yet.
type lateTag struct {
	At      time.Time
	Tag     Tag
	Deleted bool
}

// tag returns the value of a visible tag.
func (in *Instance) tag(key string) (string, bool) {
	for _, t := range in.Tags {
		if t.Key == key {
			return t.Value, true
		}
	}
	return "", false
}

// FinalTags are the tags once all late changes have shown.
func (in *Instance) FinalTags() []Tag {
	tags := in.Tags
	for _, late := range in.Late {
		tags = WithTag(tags, late.Tag, late.Deleted)
	}
	return tags
}

// FinalTag returns the value that a tag will have once late changes show.
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

// ChangeTags sets or deletes tags, visibly after the tag delay.
func (w *World) ChangeTags(in *Instance, now time.Time, set []Tag, remove []string) {
	at := now.Add(w.Settings.TagDelay)
	late := append([]lateTag(nil), in.Late...)
	for _, t := range set {
		late = append(late, lateTag{At: at, Tag: t})
	}
	w.RememberTags(set)
	for _, key := range remove {
		late = append(late, lateTag{At: at, Tag: Tag{Key: key}, Deleted: true})
	}
	in.Late = late
	w.Changed(in)
	if w.Settings.TagDelay <= 0 {
		w.showLateTags(in, now)
		return
	}
	w.schedule(at, in.ID, eventTags)
}

// showLateTags makes the changes of tags visible that are due.
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
		w.index.removeTags(in, in.Tags)
		w.index.addTags(in, tags)
	}
	in.Tags = tags
	w.Changed(in)
}

// tagBook remembers every value that was ever used with a tag key, over all
// regions of the account. A tag outlives the resources that have it.
type tagBook map[string]map[string]bool

// tagRecord is how a value is kept.
type tagRecord Tag

// key parts the tag with a character that neither half can have.
func (r tagRecord) key() string { return "tag/" + r.Key + "\x00" + r.Value }

// add reports whether the value is new.
func (b tagBook) add(t Tag) bool {
	values := b[t.Key]
	if values == nil {
		values = map[string]bool{}
		b[t.Key] = values
	}
	if values[t.Value] {
		return false
	}
	values[t.Value] = true
	return true
}

// keys names the records of the book.
func (b tagBook) keys() []string {
	var keys []string
	for key, values := range b {
		for value := range values {
			keys = append(keys, tagRecord{key, value}.key())
		}
	}
	return keys
}

// RememberTags notes that tags are used.
func (w *World) RememberTags(tags []Tag) {
	for _, t := range tags {
		w.rememberTagKey(t.Key)
		if w.tagValues.add(t) {
			w.touch(tagRecord(t).key())
		}
	}
}

func (w *World) rememberTagKey(key string) {
	if !w.tagKeys[key] {
		w.tagKeys[key] = true
		w.touch(worldKey)
	}
}

// ValuesOf returns the values that were ever used with a tag key.
func (w *World) ValuesOf(key string) map[string]bool { return w.tagValues[key] }

// HasTagKey reports whether a tag key was ever created.
func (w *World) HasTagKey(key string) bool { return w.tagKeys[key] }
