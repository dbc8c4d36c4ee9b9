package fleet

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Ending is the end of instances of one market that the pool did not terminate.
type Ending struct {
	Market       spotpool.Market
	IDs          []string
	LaunchFailed bool // else they were reclaimed or terminated, or are about to be
	what         string
	notice       string // the text of an interruption notice; else empty
}

func (e Ending) String() string {
	if e.notice != "" {
		return e.notice
	}
	return fmt.Sprintf("%s (%s) %s %s", wording.Some(e.IDs), e.Market, wording.Are(len(e.IDs)), e.what)
}

// noticed reports whether an interruption notice of the instance was reported, and not
// withdrawn since.
func (k Known) noticed() bool { return !k.ReportedTakenAt.IsZero() }

// endReason says why an instance that is listed terminates, or has terminated.
func (k Known) endReason(i spotpool.Instance) string {
	if i.State != spotpool.StateLaunchFailed {
		if k.noticed() {
			return string(i.State) + ": " + reclaimed
		}
		return string(i.State) + ": reclaimed by Tencent Cloud, or terminated by hand"
	}
	if reason := strings.TrimSpace(i.OperationError); reason != "" {
		return "LAUNCH_FAILED: " + reason
	}
	return "LAUNCH_FAILED: Tencent Cloud gave no reason"
}

// goneReason says why an instance is gone that the pool did not terminate.
func (k Known) goneReason() string {
	if k.noticed() {
		return "gone: " + reclaimed
	}
	return "gone: reclaimed by Tencent Cloud, or terminated or untagged by hand"
}

const reclaimed = "reclaimed by Tencent Cloud, as its interruption notice announced"
