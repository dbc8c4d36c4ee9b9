package store

import (
	"reflect"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/storedtest"
)

// What describes a store is read before anything else of it.
func TestTheLayoutHasTheFieldsOfItsVersion(t *testing.T) {
	t.Parallel()
	storedtest.Fields(t, layoutVersion, map[string]reflect.Type{"layout": reflect.TypeFor[layout](), "mark": reflect.TypeFor[Mark]()})
}
