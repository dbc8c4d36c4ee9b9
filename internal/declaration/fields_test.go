package declaration

import (
	"reflect"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/storedtest"
)

func (b body[T]) stored() (kind string, of reflect.Type) { return b.kind, reflect.TypeFor[T]() }

// Each body that documents may hold is held to the fields of its version, and so is
// what is around it.
func TestStoredFieldsAreThoseOfTheirVersion(t *testing.T) {
	t.Parallel()
	documents := map[string]reflect.Type{"envelope": reflect.TypeFor[envelope]()}
	for _, r := range bodies {
		kind, of := r.(interface {
			stored() (kind string, of reflect.Type)
		}).stored()
		documents[kind] = of
	}
	storedtest.Fields(t, Version, documents)
}
