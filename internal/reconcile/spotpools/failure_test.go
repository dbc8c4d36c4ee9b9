package spotpools

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestFailuresAreForPeople: the end of an operation's context is no text that helps.
func TestFailuresAreForPeople(t *testing.T) {
	t.Parallel()
	for failure, want := range map[error]reason.Reason{
		context.Canceled: reason.PoolInterrupted(),
		fmt.Errorf("RunInstances: %w", context.Canceled): reason.PoolInterrupted(),
		context.DeadlineExceeded:                         reason.PoolTimedOut(),
		errors.New("the disk is full"):                   reason.Unexplained("the disk is full"),
	} {
		if got := failed(failure); !got.Same(want) {
			t.Errorf("%v is explained as %q, want %q", failure, got, want)
		}
	}
}
