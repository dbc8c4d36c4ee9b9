package gpu

import "github.com/gpupool/terraform-provider-gpupool/internal/reason"

// doubts collects what could not be understood about one pod, each once.
type doubts struct {
	list reason.Reasons
	lost bool // something does not count because of it
}

// add adds a doubt, if there is one.
func (d *doubts) add(why reason.Reason) { d.list = d.list.With(why) }

// first returns the first of two doubts that there is.
func first(doubt, other reason.Reason) reason.Reason {
	if doubt.IsZero() {
		return other
	}
	return doubt
}

// recordLoss adds a doubt about something that therefore does not count.
func (d *doubts) recordLoss(why reason.Reason) {
	d.lost = true
	d.add(why)
}
