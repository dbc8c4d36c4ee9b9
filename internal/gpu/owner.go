package gpu

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// ControllerOf is what an object names as its controller; nil where no object can be what it
// names. The API server takes any text of any length for an owner, and the owner goes into
// the ledger, into requests and into reports.
func ControllerOf(object metav1.Object) *ledger.Owner {
	o := metav1.GetControllerOfNoCopy(object)
	if o == nil || !possible(o) {
		return nil
	}
	return &ledger.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: string(o.UID)}
}

// longestUID is more than the 36 characters that the API server gives an object.
const longestUID = 128

// possible says whether an object can have what a reference says: what controls pods bears a
// DNS name, as those of all workloads and custom resources are.
func possible(o *metav1.OwnerReference) bool {
	group, err := schema.ParseGroupVersion(o.APIVersion)
	return err == nil && (group.Group == "" || len(validation.IsDNS1123Subdomain(group.Group)) == 0) &&
		len(validation.IsDNS1035Label(group.Version)) == 0 && len(validation.IsDNS1035Label(strings.ToLower(o.Kind))) == 0 &&
		len(validation.IsDNS1123Subdomain(o.Name)) == 0 && len(o.UID) <= longestUID && len(validation.IsDNS1123Subdomain(strings.ToLower(string(o.UID)))) == 0
}
