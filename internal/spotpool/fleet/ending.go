package fleet

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Ending is that of instances of one market that end alike, and did not end because the
// pool asked for it.
type Ending struct {
	Market       spotpool.Market
	IDs          []string
	LaunchFailed bool // else they were reclaimed, or are about to be
	what         string
	notice       string // of an end that is announced; else empty
}

// String says so for people.
func (e Ending) String() string {
	if e.notice != "" {
		return e.notice
	}
	return fmt.Sprintf("%s (%s) %s %s", wording.Some(e.IDs), e.Market, wording.Are(len(e.IDs)), e.what)
}

// endReason says why an instance that was listed ends, or has ended.
func endReason(i spotpool.Instance) string {
	if i.State != spotpool.StateLaunchFailed {
		return string(i.State) + ": being reclaimed by the cloud, or ended by someone else"
	}
	if reason := strings.TrimSpace(i.OperationError); reason != "" {
		return "LAUNCH_FAILED: " + reason
	}
	return "LAUNCH_FAILED: the cloud gave no reason"
}

const goneUnasked = "gone: reclaimed by the cloud, or ended or untagged by someone else"
