package declaration

import (
	"strings"
	"testing"
)

func TestStateOfTooManyBytesIsRefused(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	fits := strings.Repeat(" ", limit-2) + "{}"
	if _, err := readState(strings.NewReader(fits), limit); err != nil {
		t.Errorf("%d bytes: %v", len(fits), err)
	}
	if _, err := readState(strings.NewReader(fits+" "), limit); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("one byte more: got %v, want a refusal that names the limit", err)
	}
}
