package schedule

import (
	"fmt"
	"strings"
)

// Counts show that something happened.
type Counts struct {
	Rounds, Applies, Reconciles, Destroys, Imports int
	Launches, Reclaims, Refreshes, Faults          int
	Kills, KillsInCalls                            int
}

// Plus adds up.
func (c Counts) Plus(other Counts) Counts {
	mine, theirs := c.fields(), other.fields()
	for n := range mine {
		*mine[n].value += *theirs[n].value
	}
	return c
}

// Missing names what never happened, and has to.
func (c Counts) Missing() []string {
	var missing []string
	for _, f := range c.fields() {
		if *f.value == 0 && !f.chance {
			missing = append(missing, f.name)
		}
	}
	return missing
}

// String writes the counts on one line.
func (c Counts) String() string {
	var parts []string
	for _, f := range c.fields() {
		parts = append(parts, fmt.Sprintf("%d %s", *f.value, f.name))
	}
	return strings.Join(parts, ", ")
}

type field struct {
	name   string
	value  *int
	chance bool // a short schedule may have none
}

func (c *Counts) fields() []field {
	return []field{
		{"rounds", &c.Rounds, false}, {"applies", &c.Applies, false}, {"reconciles", &c.Reconciles, false},
		{"destroys", &c.Destroys, false}, {"imports", &c.Imports, true},
		{"launches", &c.Launches, false}, {"reclaims", &c.Reclaims, false}, {"refreshes", &c.Refreshes, false},
		{"faults hit", &c.Faults, false}, {"kills", &c.Kills, false}, {"kills in the middle of a call", &c.KillsInCalls, false},
	}
}
