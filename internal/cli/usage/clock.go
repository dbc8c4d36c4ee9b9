package usage

import (
	"cmp"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// clock is that of the calendar of a budget, or local time.
func (o *options) clock(d budget.Declaration) terminal.Clock {
	if d.Period == "" {
		return o.session.Clock()
	}
	return o.session.Clock().In(cmp.Or(d.TimeZone, "UTC"))
}

// momentsOf are the times of some pods.
func momentsOf(pods []usage.Pod) (moments []time.Time) {
	for _, p := range pods {
		moments = append(moments, p.Start)
		if p.End != nil {
			moments = append(moments, *p.End)
		}
	}
	return moments
}
