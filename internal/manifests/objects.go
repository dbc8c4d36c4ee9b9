package manifests

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// Names of the objects. Cluster-scoped names contain the namespace, so that two stores in one
// cluster do not share rights.
const (
	ReconcileAccount = "gpupool-reconcile"
	TerraformAccount = "gpupool-terraform"
	NoticeAccount    = "gpupool-notice-watch"
	storeRole        = "gpupool-store"
)

// user is the image's own (tools/release/image).
const user = 65532

// Object is one object and its purpose.
type Object struct {
	Why    string
	Object runtime.Object
}

// Objects returns what the cluster needs, in an order in which it can be applied.
func Objects(o Options) ([]Object, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	layout := kubernetes.LayoutObject(o.Namespace)
	layout.TypeMeta = kindOf("v1", "ConfigMap")
	runs := workload{o}
	all := []Object{
		{"The namespace of the store: declarations, status, ledger and locks. Do not add accounts or pods: anyone who may write the store's " +
			"Secrets could get the account's token.", namespace(o.Namespace)},
		{"It makes the namespace an empty store.", layout},
		{
			"The namespace of the run: the accounts, the " + runs.kind() + ", and the Tencent Cloud credentials, which no role may read.",
			namespace(o.runNamespace()),
		},
		{"It runs the " + runs.kind() + ".", account(o, ReconcileAccount)},
		{"For terraform apply, which declares budgets and pools, and lifts what a destroyed budget enforced.", account(o, TerraformAccount)},
	}
	// Policies come before the rights that they limit.
	all = append(all, limits{o}.all()...)
	all = append(all, grants{o}.all()...)
	if o.NoticeWatch {
		all = append(all, noticeWatch(o)...)
	}
	all = append(all, Object{
		"It rejects new GPU pods in the namespaces of a slot. None is in use until a budget with enforcement is exceeded.", kubecluster.FreezePolicy(),
	})
	why := slotsUse
	for _, slot := range kubecluster.FreezeSlots(o.FreezeSlots) {
		all = append(all, Object{why, slot})
		why = ""
	}
	return append(all, runs.objects()...), nil
}

const slotsUse = "The slots of freezes. Each binds to nothing until a run uses it. kubectl apply keeps what a run then writes, with and without " +
	"--server-side. kubectl replace would lift freezes until the next run."

func kindOf(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

// appName is a label of all objects, by which policies recognize the namespaces of gpupool.
const appName = "gpupool"

func labels() map[string]string { return map[string]string{"app.kubernetes.io/name": appName} }

func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels()}
}

func namespace(name string) *corev1.Namespace {
	n := &corev1.Namespace{TypeMeta: kindOf("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels()}}
	n.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	return n
}

func account(o Options, name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta: kindOf("v1", "ServiceAccount"), ObjectMeta: in(o.runNamespace(), name),
		AutomountServiceAccountToken: new(false), // the CronJob's pods ask for it
	}
}
