package kubetest

import (
	"errors"
	"strings"
	"testing"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// MustFail expects an error of a class whose text has all of the words.
func MustFail(t testing.TB, err error, class kubeclient.Class, words ...string) {
	t.Helper()
	var failed *kubeclient.Error
	if !errors.As(err, &failed) || failed.Class != class {
		t.Errorf("got %v, want an error of the class %s", err, class)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q lacks %q", err, word)
		}
	}
}
