package ledger

import (
	"reflect"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
	"github.com/gpupool/terraform-provider-gpupool/internal/storedtest"
)

func TestStoredFieldsAreThoseOfTheirVersion(t *testing.T) {
	t.Parallel()
	storedtest.Fields(t, document.Version, map[string]reflect.Type{
		"header": reflect.TypeFor[headerBody](), "interval": reflect.TypeFor[interval](),
		"nodes": reflect.TypeFor[tableBody[Node]](), "bindings": reflect.TypeFor[tableBody[Binding]](),
	})
}
