package world

import (
	"cmp"
	"slices"
)

type instanceList struct{ items []*Instance }

func byOrdinal(a, b *Instance) int { return cmp.Compare(a.Ordinal, b.Ordinal) }

func (l *instanceList) add(in *Instance) {
	if n := len(l.items); n == 0 || l.items[n-1].Ordinal < in.Ordinal {
		l.items = append(l.items, in)
		return
	}
	if i, found := slices.BinarySearchFunc(l.items, in, byOrdinal); !found {
		l.items = slices.Insert(l.items, i, in)
	}
}

func (l *instanceList) all() []*Instance {
	if l == nil {
		return nil
	}
	return l.items
}

func (l *instanceList) remove(in *Instance) {
	if i, found := slices.BinarySearchFunc(l.items, in, byOrdinal); found {
		l.items = slices.Delete(l.items, i, i+1)
	}
}

// tagRef is a key of the tag index; an empty value stands for any.
type tagRef struct{ region, key, value string }

// index finds instances by region and by visible tag, in a stable order.
type index struct {
	byRegion map[string]*instanceList
	byTag    map[tagRef]*instanceList
}

func newIndex() *index {
	return &index{byRegion: map[string]*instanceList{}, byTag: map[tagRef]*instanceList{}}
}

func (x *index) add(in *Instance) {
	entry(x.byRegion, in.Region).add(in)
	x.addTags(in, in.Tags)
}

func (x *index) remove(in *Instance) {
	entry(x.byRegion, in.Region).remove(in)
	x.removeTags(in, in.Tags)
}

func (x *index) addTags(in *Instance, tags []Tag) {
	for _, t := range tags {
		entry(x.byTag, tagRef{in.Region, t.Key, t.Value}).add(in)
		entry(x.byTag, tagRef{in.Region, t.Key, ""}).add(in)
	}
}

func (x *index) removeTags(in *Instance, tags []Tag) {
	for _, t := range tags {
		for _, ref := range []tagRef{{in.Region, t.Key, t.Value}, {in.Region, t.Key, ""}} {
			list := entry(x.byTag, ref)
			list.remove(in)
			if len(list.items) == 0 {
				delete(x.byTag, ref)
			}
		}
	}
}

func entry[K comparable](lists map[K]*instanceList, key K) *instanceList {
	list := lists[key]
	if list == nil {
		list = &instanceList{}
		lists[key] = list
	}
	return list
}

// tagged returns the instances of a region with a visible tag, or if the value is empty, with its
// key.
func (x *index) tagged(region, key, value string) []*Instance {
	return x.byTag[tagRef{region, key, value}].all()
}

func (x *index) inRegion(region string) []*Instance {
	return x.byRegion[region].all()
}
