package store

import (
	"reflect"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/storedtest"
)

// The description of a store is read first.
func TestTheLayoutHasTheFieldsOfItsVersion(t *testing.T) {
	t.Parallel()
	storedtest.Fields(t, layoutVersion, map[string]reflect.Type{"layout": reflect.TypeFor[layout](), "mark": reflect.TypeFor[Mark]()})
}
