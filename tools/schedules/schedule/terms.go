package schedule

import "fmt"

// Terms are the parts of a pool's declaration that change from round to round, and
// by which its launches are judged.
type Terms struct {
	Minimum     int    `json:"minimum"`
	Maximum     int    `json:"maximum"`
	Image       int    `json:"image"` // which of the images
	Strategy    string `json:"strategy"`
	Surge       int    `json:"surge"`
	Unavailable int    `json:"unavailable"`
}

// String writes terms for a log.
func (t Terms) String() string {
	return fmt.Sprintf("minimum %d, maximum %d, image %d, refresh %s (surge %d, unavailable %d)", t.Minimum, t.Maximum, t.Image, t.Strategy, t.Surge,
		t.Unavailable)
}

// ImageID is the image's.
func (t Terms) ImageID() string { return fmt.Sprintf("img-%08d", t.Image) }

// lawful are terms that a plan does not refuse: a rolling refresh needs room.
func (t Terms) lawful() Terms {
	if t.Surge+t.Unavailable == 0 {
		t.Surge = 1
	}
	if t.Maximum == t.Minimum && t.Unavailable == 0 {
		t.Maximum++
	}
	return t
}

// surge is how far launches may bring the capacity above minimum.
func (t Terms) surge() int {
	if t.Strategy == Rolling {
		return t.Surge
	}
	return 0
}

// The strategies of a refresh.
const (
	None          = "none"
	Rolling       = "rolling"
	Opportunistic = "opportunistic"
)

// Either allows what one or the other allows: while one follows the other, runs go
// by either.
func (t Terms) Either(other Terms) Terms {
	surge := max(t.surge(), other.surge())
	t.Minimum, t.Maximum = max(t.Minimum, other.Minimum), max(t.Maximum, other.Maximum)
	t.Strategy, t.Surge = None, 0
	if surge > 0 {
		t.Strategy, t.Surge = Rolling, surge
	}
	return t
}
