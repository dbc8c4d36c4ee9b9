package budget

import (
	"encoding/binary"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// class is the label sets that no budget can tell apart, and what their pods use.
type class struct {
	number    int
	set       *ledger.LabelSet // one of them
	audiences []*audience
	groups    []group
	pods      bool // any of its pods is in a window
}

// group is what a class's pods use by one valuation, in each window that is
// asked for.
type group struct {
	valuer int
	from   []ledger.Time // the windows' starts, ascending
	// whole sums up, at the last window that holds an interval whole, what is the
	// same in all earlier ones; cut sums up, by window, what its start cuts.
	whole, cut []tally
	active     []activeRate
	intervals  int // of its pods, in a window or not
}

type tally struct {
	portion
	pods int
}

type activeRate struct {
	rate int32
	pods int
}

func (t *tally) add(p portion) {
	t.consumed = plus(t.consumed, p.consumed)
	t.estimated = plus(t.estimated, p.estimated)
	t.bound = plus(t.bound, p.bound)
	t.unshown = plus(t.unshown, p.unshown)
	t.pods++
}

// merge adds another tally.
func (t *tally) merge(o tally) {
	t.add(o.portion)
	t.pods += o.pods - 1
}

// add counts one interval.
func (g *group) add(s stretch, r rate, number int32) {
	holding := len(g.from)
	for holding > 0 && g.from[holding-1] > s.start {
		holding--
	}
	if holding > 0 {
		g.whole[holding-1].add(s.within(s.start, r))
	}
	for n := holding; n < len(g.from) && s.touches(g.from[n]); n++ {
		g.cut[n].add(s.within(g.from[n], r))
	}
	if s.active && !s.unshown {
		g.activate(number)
	}
}

// addParts counts an interval whose rate changes.
func (g *group) addParts(p *parted) {
	for n := 0; n < len(g.from) && p.touches(g.from[n]); n++ {
		g.cut[n].add(p.within(g.from[n]))
	}
	if p.active && !p.unshown {
		g.activate(p.last())
	}
}

func (g *group) activate(number int32) {
	for n := range g.active {
		if g.active[n].rate == number {
			g.active[n].pods++
			return
		}
	}
	g.active = append(g.active, activeRate{rate: number, pods: 1})
}

// settle turns the sums of whole intervals into each window's total.
func (g *group) settle() {
	var later tally
	for n := len(g.from) - 1; n >= 0; n-- {
		later.merge(g.whole[n])
		g.cut[n].merge(later)
	}
}

// of finds the group that counts for an audience, and the window in it.
func (c *class) of(a *audience) (*group, int) {
	for n := range c.groups {
		if g := &c.groups[n]; g.valuer == a.valuer {
			window, _ := slices.BinarySearch(g.from, a.from)
			return g, window
		}
	}
	return nil, 0
}

// newClass finds who counts a label set's pods.
func (c *census) newClass(number int, set *ledger.LabelSet) *class {
	made := &class{number: number, set: set, audiences: c.matching(set)}
	windows := map[int][]ledger.Time{}
	for _, a := range made.audiences {
		windows[a.valuer] = append(windows[a.valuer], a.from)
		a.classes = append(a.classes, made)
	}
	for valuer := range c.valuers {
		if from := windows[valuer]; len(from) > 0 {
			slices.Sort(from)
			from = slices.Compact(from)
			made.groups = append(made.groups, group{valuer: valuer, from: from, whole: make([]tally, len(from)), cut: make([]tally, len(from))})
		}
	}
	return made
}

// classes finds the class of each label set.
type classes struct {
	census *census
	list   []*class
	sets   interner[ledger.LabelSet]
	byText map[string]*class
	text   []byte
	asked  []askedLabel
}

type askedLabel struct {
	key   int
	value string
}

func (c *classes) of(set *ledger.LabelSet) *class {
	if number, known := c.sets.find(set, set.ID()); known {
		return c.list[number]
	}
	c.text = append(c.text[:0], set.Namespace...)
	c.project(set.NamespaceLabels, c.census.namespaceKeys)
	c.project(set.Labels, c.census.keys)
	found, known := c.byText[string(c.text)]
	if !known {
		found = c.census.newClass(len(c.list), set)
		c.list = append(c.list, found)
		c.byText[string(c.text)] = found
	}
	c.sets.keep(set, set.ID(), int32(found.number))
	return found
}

// project writes the values of the labels that are asked for.
func (c *classes) project(labels ledger.Labels, keys map[string]int) {
	c.text = append(c.text, 0)
	if len(keys) == 0 {
		return
	}
	c.asked = c.asked[:0]
	for _, label := range labels {
		if key, asked := keys[label.Key]; asked {
			c.asked = append(c.asked, askedLabel{key, label.Value})
		}
	}
	slices.SortFunc(c.asked, func(a, b askedLabel) int { return a.key - b.key })
	for _, label := range c.asked {
		c.text = binary.AppendUvarint(c.text, uint64(label.key)+1)
		c.text = append(c.text, label.value...)
		c.text = append(c.text, 0)
	}
}
