package describe

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// Job describes a job and its result on one line.
func Job(j request.Job) string {
	text := fmt.Sprintf("job/%s (%s %s): %s", j.ID, j.Type, j.Object, j.State)
	if j.Type == request.TypeRun {
		text = fmt.Sprintf("job/%s (%s): %s", j.ID, j.Type, j.State)
	}
	if why := JobResult(j); why != "" {
		text += ": " + why
	}
	return text
}

// JobResult says what a job did, or why it failed; empty if neither is known.
func JobResult(j request.Job) string {
	if j.Error != nil {
		return j.Error.Message
	}
	return strings.Join(j.Reasons.Texts(), "; ")
}
