package usage

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// clock writes times for people.
type clock struct{ zone *time.Location }

// clock is that of a budget's calendar, else this machine's.
func (o *options) clock(d budget.Declaration) clock {
	if d.Period != "" {
		if zone, err := budget.ParseZone(d.TimeZone, time.LoadLocation); err == nil {
			return clock{zone}
		}
	}
	return clock{o.session.Now().Location()}
}

// Text writes one moment, in full.
func (c clock) text(t time.Time) string { return t.In(c.zone).Format("2006-01-02 15:04:05 MST") }

// column writes moments of a table, in as few characters as tell them apart from
// those of other days and years than now's.
func (c clock) column(now time.Time, moments ...time.Time) func(time.Time) string {
	form := "15:04:05"
	year, month, day := now.In(c.zone).Date()
	for _, t := range moments {
		y, m, d := t.In(c.zone).Date()
		switch {
		case y != year:
			form = "2006-01-02 15:04"
		case (m != month || d != day) && form == "15:04:05":
			form = "01-02 15:04"
		}
	}
	return func(t time.Time) string { return t.In(c.zone).Format(form) }
}

// momentsOf are the times of some pods.
func momentsOf(pods []Pod) (moments []time.Time) {
	for _, p := range pods {
		moments = append(moments, p.Start)
		if p.End != nil {
			moments = append(moments, *p.End)
		}
	}
	return moments
}
