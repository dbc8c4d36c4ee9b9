package gpu

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// ControllerOf returns an object's controller; nil if no object can match the reference. The API
// server accepts any text of any length as an owner, and the owner appears in the ledger, in
// requests and in reports.
func ControllerOf(object metav1.Object) *ledger.Owner {
	o := metav1.GetControllerOfNoCopy(object)
	if o == nil || !possible(o) {
		return nil
	}
	return &ledger.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: string(o.UID)}
}

// longestUID is more than the 36 characters that the API server generates.
const longestUID = 128

// possible reports whether an object can match a reference: controllers of pods have a DNS name, as
// all workloads and custom resources do.
func possible(o *metav1.OwnerReference) bool {
	group, err := schema.ParseGroupVersion(o.APIVersion)
	return err == nil && (group.Group == "" || len(validation.IsDNS1123Subdomain(group.Group)) == 0) &&
		len(validation.IsDNS1035Label(group.Version)) == 0 && len(validation.IsDNS1035Label(strings.ToLower(o.Kind))) == 0 &&
		len(validation.IsDNS1123Subdomain(o.Name)) == 0 && len(o.UID) <= longestUID && len(validation.IsDNS1123Subdomain(strings.ToLower(string(o.UID)))) == 0
}
