package client_test

import (
	"testing"

	"k8s.io/klog/v2"
)

func TestTheClientLibraryWritesNothingByItself(t *testing.T) {
	t.Parallel()
	if klog.Background().Enabled() {
		t.Error("client-go writes to standard error, past the logger that was handed in")
	}
}
