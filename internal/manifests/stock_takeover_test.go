package manifests_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// scaledBy is a Scale with managed fields of its sender's choosing, which the API server
// writes into the Deployment.
func scaledBy(name, namespace, manager string) string {
	entry := `{"manager":"` + manager + `","operation":"Apply","apiVersion":"autoscaling/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}`
	return withMetadata(scaled(name, namespace), `"managedFields":[`+entry+`]`)
}

// ownsNothingByScaling scales foreign Deployments under the names of the field managers of
// stock pools, which a pause may, and then tries to take them over.
func ownsNothingByScaling(t *testing.T, cluster *kubetest.Cluster, client kubernetes.Interface, work string) {
	t.Helper()
	deployments := cluster.Client().AppsV1().Deployments(work)
	for n, manager := range kubecluster.StockFieldManagers() {
		for way, body := range map[string]func(name string) string{
			"plain":   func(name string) string { return scaled(name, work) },
			"claimed": func(name string) string { return scaledBy(name, work, manager) },
			"as is": func(name string) string {
				return strings.Replace(scaledBy(name, work, manager), `"replicas":7`, `"replicas":0`, 1)
			},
		} {
			name := fmt.Sprintf("scaled-%d-%s", n, strings.ReplaceAll(way, " ", "-"))
			kubetest.Create(t, cluster, kubetest.Deployment(work, name, 0))
			at := apiApps + "WORK/deployments/" + name
			scale := abuse{verb: http.MethodPut, path: at + "/scale?fieldManager=" + manager, body: body(name)}
			if err := call(t.Context(), client, scale, work); err != nil && !apierrors.IsForbidden(err) {
				t.Errorf("scaling as %s, %s: %v", manager, way, err)
			}
			for _, a := range []abuse{
				{
					what: "label it", verb: http.MethodPatch, path: at, body: `{"metadata":{"labels":{"gpupool/stock-pool":"` + name + `"}}}`,
					as: types.MergePatchType,
				},
				{
					what: "label it, and change its image", verb: http.MethodPatch, path: at, as: types.StrategicMergePatchType,
					body: strings.Replace(other, `{"spec"`, `{"metadata":{"labels":{"gpupool/stock-pool":"`+name+`"}},"spec"`, 1),
				},
				{what: "delete it", verb: http.MethodDelete, path: at},
			} {
				if err := call(t.Context(), client, a, work); !apierrors.IsForbidden(err) {
					live, _ := deployments.Get(t.Context(), name, metav1.GetOptions{})
					t.Errorf("scaled as %s, %s, and then to %s: got %v, want it to be forbidden: %+v", manager, way, a.what, err, live.ManagedFields)
				}
			}
			if err := deployments.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
		}
	}
}
