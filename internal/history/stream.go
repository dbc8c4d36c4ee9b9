package history

import (
	"cmp"
	"container/heap"
	"slices"
)

// Source is a sequence of events in the order of their time, which is loaded when it is needed.
type Source struct {
	From  int64 // a lower bound of their times, in milliseconds
	Fetch func() ([]Event, error)
}

// InOrder calls tell with the events of all sources in the order of their time, as often as they
// occur. It holds only sources whose times overlap. An error of a source or of tell ends it.
func InOrder(sources []Source, tell func(*Event) error) error {
	slices.SortStableFunc(sources, func(a, b Source) int { return cmp.Compare(a.From, b.From) })
	var fetched queues
	for {
		for len(sources) > 0 && (len(fetched) == 0 || sources[0].From <= fetched[0][0].At.UnixMilli()) {
			events, err := sources[0].Fetch()
			if err != nil {
				return err
			}
			if sources = sources[1:]; len(events) > 0 {
				heap.Push(&fetched, events)
			}
		}
		if len(fetched) == 0 {
			return nil
		}
		if err := tell(&fetched[0][0]); err != nil {
			return err
		}
		if fetched[0] = fetched[0][1:]; len(fetched[0]) == 0 {
			heap.Pop(&fetched)
		} else {
			heap.Fix(&fetched, 0)
		}
	}
}

// queues are non-empty sequences of events in the order of their time, sorted by their first event.
type queues [][]Event

func (q queues) Len() int           { return len(q) }
func (q queues) Less(a, b int) bool { return compare(&q[a][0], &q[b][0]) < 0 }
func (q queues) Swap(a, b int)      { q[a], q[b] = q[b], q[a] }
func (q *queues) Push(events any)   { *q = append(*q, events.([]Event)) } //nolint:forcetypeassert // by InOrder alone
func (q *queues) Pop() any {
	last := len(*q) - 1
	popped := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return popped
}
