package history

import (
	"reflect"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/storedtest"
)

func TestStoredFieldsAreThoseOfTheirVersion(t *testing.T) {
	t.Parallel()
	storedtest.Fields(t, form.Version, map[string]reflect.Type{
		"event": reflect.TypeFor[Row](), "index": reflect.TypeFor[Index](),
	})
}
