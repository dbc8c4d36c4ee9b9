package manifests_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// abuse is one call that no account of gpupool may make.
type abuse struct {
	right string // that it takes as a pretext
	what  string
	verb  string // of HTTP
	path  string // where STORE, RUN, RUN2 (of another installation) and WORK are namespaces
	body  string
	as    types.PatchType // of a patch
}

const otherRun = "gpupool-other-run"

const (
	apiCore      = "/api/v1/namespaces/"
	apiApps      = "/apis/apps/v1/namespaces/"
	apiBatch     = "/apis/batch/v1/namespaces/"
	apiAdmission = "/apis/admissionregistration.k8s.io/v1/"
	apiRBAC      = "/apis/rbac.authorization.k8s.io/v1/"
)

func secret(name string) string {
	return `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"` + name + `"},"stringData":{"a":"b"}}`
}

func tokenFor(name, account string) string {
	return `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"` + name + `","annotations":{"kubernetes.io/service-account.name":"` + account +
		`"}},"type":"kubernetes.io/service-account-token"}`
}

const (
	aPod     = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"mine"},"spec":{"serviceAccountName":"gpupool-reconcile","containers":[{"name":"a","image":"a"}]}}`
	aJob     = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"mine"},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"a"}]}}}}`
	aCronJob = `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"mine"},"spec":{"schedule":"0 0 1 1 *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"a"}]}}}}}}`
	// other is what a workload's pods are to become.
	other = `{"spec":{"template":{"spec":{"serviceAccountName":"admin","containers":[{"name":"main","image":"mine"}]}}}}`
	slot  = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"NAME","resourceVersion":"1"},"spec":{"policyName":"foreign","validationActions":["Audit"]}}`
)

func bindingNamed(name string) string { return strings.Replace(slot, "NAME", name, 1) }

func scaled(kind, namespace string) string {
	return `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"` + kind + `","namespace":"` + namespace + `"},"spec":{"replicas":7}}`
}

func eviction(namespace string) string {
	return `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"pod","namespace":"` + namespace + `"}}`
}

func abuses() []abuse {
	all := []abuse{
		{right: "get secrets", what: "read the credentials of the cloud", verb: http.MethodGet, path: apiCore + "RUN/secrets/gpupool-tencentcloud"},
		{right: "get secrets", what: "read another team's Secret", verb: http.MethodGet, path: apiCore + "WORK/secrets/own"},
		{right: "list secrets", what: "list the run's Secrets", verb: http.MethodGet, path: apiCore + "RUN/secrets"},
		{right: "list secrets", what: "list all Secrets", verb: http.MethodGet, path: "/api/v1/secrets"},
		{
			right: "create secrets", what: "ask for a token beside the accounts", verb: http.MethodPost, path: apiCore + "RUN/secrets",
			body: tokenFor("token", "gpupool-reconcile"),
		},
		{
			right: "create secrets", what: "ask for a controller's token", verb: http.MethodPost, path: apiCore + "kube-system/secrets",
			body: tokenFor("token", "default"),
		},
		{
			right: "create secrets", what: "ask the API for a token", verb: http.MethodPost, path: apiCore + "RUN/serviceaccounts/gpupool-reconcile/token",
			body: `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`,
		},
		{
			right: "create tokenreviews", what: "ask the API for a token of Terraform", verb: http.MethodPost,
			path: apiCore + "RUN/serviceaccounts/gpupool-terraform/token", body: `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`,
		},
		{
			right: "create subjectaccessreviews", what: "give itself a right", verb: http.MethodPost,
			path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
			body: `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"mine"},` +
				`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`,
		},
		{
			right: "create secrets", what: "make an account in the store", verb: http.MethodPost, path: apiCore + "STORE/serviceaccounts",
			body: `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"mine"}}`,
		},
		{
			right: "update secrets", what: "change the credentials of the cloud", verb: http.MethodPut, path: apiCore + "RUN/secrets/gpupool-tencentcloud",
			body: secret("gpupool-tencentcloud"),
		},
		{right: "delete secrets", what: "delete another team's Secret", verb: http.MethodDelete, path: apiCore + "WORK/secrets/own"},

		{
			right: "get configmaps", what: "read another namespace's", verb: http.MethodGet,
			path: apiCore + "kube-system/configmaps/extension-apiserver-authentication",
		},
		{right: "list configmaps", what: "list all", verb: http.MethodGet, path: "/api/v1/configmaps"},
		{
			right: "create configmaps", what: "make one in the system", verb: http.MethodPost, path: apiCore + "kube-system/configmaps",
			body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"coredns"}}`,
		},
		{
			right: "update configmaps", what: "change another namespace's", verb: http.MethodPut, path: apiCore + "RUN/configmaps/kube-root-ca.crt",
			body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt"}}`,
		},
		{right: "delete configmaps", what: "delete another namespace's", verb: http.MethodDelete, path: apiCore + "WORK/configmaps/kube-root-ca.crt"},

		{
			right: "get leases", what: "read a controller's", verb: http.MethodGet,
			path: "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
		},
		{
			right: "create leases", what: "make a node's", verb: http.MethodPost, path: "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
			body: `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"mine"}}`,
		},
		{
			right: "update leases", what: "take a controller's", verb: http.MethodPut,
			path: "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
			body: `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"kube-scheduler"}}`,
		},
		{
			right: "delete leases", what: "delete a controller's", verb: http.MethodDelete,
			path: "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
		},

		{
			right: "get namespaces", what: "protect one", verb: http.MethodPatch, path: apiCore + "WORK",
			body: `{"metadata":{"annotations":{"gpupool/protected":"true"}}}`, as: types.MergePatchType,
		},
		{
			right: "list namespaces", what: "make one", verb: http.MethodPost, path: "/api/v1/namespaces",
			body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mine"}}`,
		},
		{right: "watch namespaces", what: "delete one", verb: http.MethodDelete, path: "/api/v1/namespaces/WORK"},
		{right: "watch nodes", what: "delete all", verb: http.MethodDelete, path: "/api/v1/nodes"},
		{right: "list nodes", what: "reach the kubelet of one", verb: http.MethodGet, path: "/api/v1/nodes/own/proxy/pods"},

		{right: "get pods", what: "read a log", verb: http.MethodGet, path: apiCore + "WORK/pods/pod/log"},
		{right: "get pods", what: "enter one", verb: http.MethodPost, path: apiCore + "WORK/pods/pod/exec?command=sh"},
		{
			right: "list pods", what: "change one", verb: http.MethodPatch, path: apiCore + "WORK/pods/pod",
			body: `{"spec":{"containers":[{"name":"main","image":"mine"}]}}`, as: types.StrategicMergePatchType,
		},
		{right: "list pods", what: "delete one", verb: http.MethodDelete, path: apiCore + "WORK/pods/pod"},
		{right: "delete pods", what: "delete all", verb: http.MethodDelete, path: apiCore + "WORK/pods"},
		{
			right: "watch pods", what: "put a container into one", verb: http.MethodPatch, path: apiCore + "WORK/pods/pod/ephemeralcontainers",
			body: `{"spec":{"ephemeralContainers":[{"name":"a","image":"a"}]}}`, as: types.StrategicMergePatchType,
		},

		{right: "get events", what: "delete one", verb: http.MethodDelete, path: apiCore + "WORK/events/event"},
		{right: "list events", what: "delete all", verb: http.MethodDelete, path: apiCore + "WORK/events"},
		{
			right: "create events", what: "make one of another API", verb: http.MethodPost, path: "/apis/events.k8s.io/v1/namespaces/WORK/events",
			body: `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"mine"}}`,
		},
		{
			right: "update events", what: "patch one", verb: http.MethodPatch, path: apiCore + "WORK/events/event", body: `{"message":"mine"}`,
			as: types.MergePatchType,
		},

		{
			right: "list priorityclasses", what: "make one", verb: http.MethodPost, path: "/apis/scheduling.k8s.io/v1/priorityclasses",
			body: `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"mine"},"value":1}`,
		},
		{right: "list resourceslices", what: "delete all", verb: http.MethodDelete, path: "/apis/resource.k8s.io/v1/resourceslices"},
		{right: "list resourceclaims", what: "delete all", verb: http.MethodDelete, path: "/apis/resource.k8s.io/v1/namespaces/WORK/resourceclaims"},
		{
			right: "watch resourceclaims", what: "allocate one", verb: http.MethodPatch,
			path: "/apis/resource.k8s.io/v1/namespaces/WORK/resourceclaims/any/status", body: `{"status":{}}`, as: types.MergePatchType,
		},

		{
			right: "list validatingadmissionpolicybindings", what: "delete a foreign one", verb: http.MethodDelete,
			path: apiAdmission + "validatingadmissionpolicybindings/foreign",
		},
		{
			right: "list validatingadmissionpolicybindings", what: "delete all", verb: http.MethodDelete,
			path: apiAdmission + "validatingadmissionpolicybindings",
		},
		{
			right: "list validatingadmissionpolicybindings", what: "delete a slot", verb: http.MethodDelete,
			path: apiAdmission + "validatingadmissionpolicybindings/gpupool-freeze-01",
		},
		{
			right: "list validatingadmissionpolicybindings", what: "make one", verb: http.MethodPost, path: apiAdmission + "validatingadmissionpolicybindings",
			body: strings.Replace(bindingNamed("mine"), `,"resourceVersion":"1"`, "", 1),
		},
		{
			right: "update validatingadmissionpolicybindings", what: "disarm a foreign one", verb: http.MethodPut,
			path: apiAdmission + "validatingadmissionpolicybindings/foreign", body: bindingNamed("foreign"),
		},
		{
			right: "update validatingadmissionpolicybindings", what: "disarm the limits", verb: http.MethodPut,
			path: apiAdmission + "validatingadmissionpolicybindings/gpupool-system-limits", body: bindingNamed("gpupool-system-limits"),
		},
		{
			right: "update validatingadmissionpolicybindings", what: "make a slot that there is not", verb: http.MethodPut,
			path: apiAdmission + "validatingadmissionpolicybindings/gpupool-freeze-65", body: bindingNamed("gpupool-freeze-65"),
		},
		{
			right: "update validatingadmissionpolicybindings", what: "patch a slot", verb: http.MethodPatch,
			path: apiAdmission + "validatingadmissionpolicybindings/gpupool-freeze-01", body: `{"spec":{"policyName":"foreign"}}`, as: types.MergePatchType,
		},
		{
			right: "get validatingadmissionpolicies", what: "change it", verb: http.MethodPatch,
			path: apiAdmission + "validatingadmissionpolicies/gpupool-freeze", body: `{"spec":{"failurePolicy":"Ignore"}}`, as: types.MergePatchType,
		},
		{
			right: "get validatingadmissionpolicies", what: "delete the limits", verb: http.MethodDelete,
			path: apiAdmission + "validatingadmissionpolicies/gpupool-system-limits",
		},

		{right: "list statefulsets", what: "delete all", verb: http.MethodDelete, path: apiApps + "WORK/statefulsets"},
		{right: "get replicasets", what: "scale one", verb: http.MethodPut, path: apiApps + "WORK/replicasets/any/scale", body: scaled("any", "WORK")},
		{
			right: "get replicasets", what: "change one", verb: http.MethodPatch, path: apiApps + "WORK/replicasets/any", body: other,
			as: types.StrategicMergePatchType,
		},
		{
			right: "list horizontalpodautoscalers", what: "delete all", verb: http.MethodDelete,
			path: "/apis/autoscaling/v2/namespaces/WORK/horizontalpodautoscalers",
		},

		{right: "list jobs", what: "delete all", verb: http.MethodDelete, path: apiBatch + "WORK/jobs"},
		{right: "get jobs", what: "delete one", verb: http.MethodDelete, path: apiBatch + "WORK/jobs/job"},
		{right: "get jobs", what: "make one", verb: http.MethodPost, path: apiBatch + "WORK/jobs", body: aJob},
		{right: "get jobs", what: "write one whole", verb: http.MethodPut, path: apiBatch + "WORK/jobs/job", body: strings.Replace(aJob, "mine", "job", 1)},
		{
			right: "patch jobs", what: "make one by patching", verb: http.MethodPatch, path: apiBatch + "WORK/jobs/mine?fieldManager=a", body: aJob,
			as: types.ApplyPatchType,
		},
		{
			right: "patch jobs", what: "suspend the run", verb: http.MethodPatch, path: apiBatch + "RUN/jobs/job", body: `{"spec":{"suspend":true}}`,
			as: types.MergePatchType,
		},
		{
			right: "patch jobs", what: "suspend one of the system", verb: http.MethodPatch, path: apiBatch + "kube-system/jobs/job",
			body: `{"spec":{"suspend":true}}`, as: types.MergePatchType,
		},
		{
			right: "patch cronjobs", what: "suspend the schedule of runs", verb: http.MethodPatch, path: apiBatch + "RUN/cronjobs/gpupool-reconcile",
			body: `{"spec":{"suspend":true}}`, as: types.MergePatchType,
		},
		{
			right: "patch cronjobs", what: "suspend one of the system", verb: http.MethodPatch, path: apiBatch + "kube-system/cronjobs/cronjob",
			body: `{"spec":{"suspend":true}}`, as: types.MergePatchType,
		},
		{
			right: "patch cronjobs", what: "suspend one of another installation", verb: http.MethodPatch, path: apiBatch + "RUN2/cronjobs/cronjob",
			body: `{"spec":{"suspend":true}}`, as: types.MergePatchType,
		},
		{
			right: "patch cronjobs", what: "make one by patching", verb: http.MethodPatch, path: apiBatch + "WORK/cronjobs/mine?fieldManager=a", body: aCronJob,
			as: types.ApplyPatchType,
		},
		{
			right: "patch cronjobs", what: "forget its Jobs", verb: http.MethodPatch, path: apiBatch + "WORK/cronjobs/cronjob/status",
			body: `{"status":{"active":null,"lastScheduleTime":null}}`, as: types.MergePatchType,
		},
		{right: "get cronjobs", what: "list them", verb: http.MethodGet, path: apiBatch + "WORK/cronjobs"},
		{right: "get cronjobs", what: "delete one", verb: http.MethodDelete, path: apiBatch + "WORK/cronjobs/cronjob"},
		{right: "get cronjobs", what: "make one", verb: http.MethodPost, path: apiBatch + "WORK/cronjobs", body: aCronJob},
		{
			right: "get cronjobs", what: "write one whole", verb: http.MethodPut, path: apiBatch + "WORK/cronjobs/cronjob",
			body: strings.Replace(aCronJob, "mine", "cronjob", 1),
		},
		{
			right: "patch jobs", what: "say that it failed", verb: http.MethodPatch, path: apiBatch + "WORK/jobs/job/status", body: `{"status":{"failed":9}}`,
			as: types.MergePatchType,
		},

		{
			right: "create pods/eviction", what: "evict from the system", verb: http.MethodPost, path: apiCore + "kube-system/pods/pod/eviction",
			body: eviction("kube-system"),
		},
		{right: "create pods/eviction", what: "evict the run", verb: http.MethodPost, path: apiCore + "RUN/pods/pod/eviction", body: eviction("RUN")},
		{
			right: "create pods/eviction", what: "make a pod", verb: http.MethodPost, path: apiCore + "WORK/pods",
			body: strings.Replace(aPod, `"serviceAccountName":"gpupool-reconcile",`, "", 1),
		},
		{right: "create pods/eviction", what: "make a pod beside the accounts", verb: http.MethodPost, path: apiCore + "RUN/pods", body: aPod},
		{
			right: "create pods/eviction", what: "bind a pod", verb: http.MethodPost, path: apiCore + "WORK/pods/pod/binding",
			body: `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"pod"},"target":{"kind":"Node","name":"any"}}`,
		},
		{
			right: "create pods/eviction", what: "give itself a role", verb: http.MethodPost, path: apiRBAC + "clusterrolebindings",
			body: `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"mine"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`,
		},
		{
			right: "create pods/eviction", what: "widen its role", verb: http.MethodPatch, path: apiRBAC + "clusterroles/gpupool-system-lift",
			body: `{"rules":[]}`, as: types.MergePatchType,
		},
	}
	for _, kind := range []string{"deployment", "statefulset"} {
		s := kind + "s"
		all = append(all,
			abuse{
				right: "get " + s, what: "give it another account and image", verb: http.MethodPatch, path: apiApps + "WORK/" + s + "/" + kind, body: other,
				as: types.StrategicMergePatchType,
			},
			abuse{
				right: "get " + s, what: "write it whole", verb: http.MethodPut, path: apiApps + "WORK/" + s + "/" + kind,
				body: `{"apiVersion":"apps/v1","kind":"` + map[string]string{
					"deployment": "Deployment", "statefulset": "StatefulSet",
				}[kind] + `","metadata":{"name":"` + kind + `"}}`,
			},
			abuse{right: "get " + s, what: "delete it", verb: http.MethodDelete, path: apiApps + "WORK/" + s + "/" + kind},
			abuse{
				right: "update " + s + "/scale", what: "patch the scale", verb: http.MethodPatch, path: apiApps + "WORK/" + s + "/" + kind + "/scale",
				body: `{"spec":{"replicas":7}}`, as: types.MergePatchType,
			},
			abuse{
				right: "update " + s + "/scale", what: "scale the system", verb: http.MethodPut, path: apiApps + "kube-system/" + s + "/" + kind + "/scale",
				body: scaled(kind, "kube-system"),
			},
			abuse{
				right: "update " + s + "/scale", what: "write its status", verb: http.MethodPatch, path: apiApps + "WORK/" + s + "/" + kind + "/status",
				body: `{"status":{"replicas":9}}`, as: types.MergePatchType,
			},
		)
	}
	for what, change := range map[string]string{
		"run more of it":         `{"spec":{"parallelism":99,"suspend":true}}`,
		"call it another team's": `{"spec":{"template":{"metadata":{"labels":{"team":"b"}}}}}`,
		"let it tolerate all":    `{"spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}}}}`,
		"send it elsewhere":      `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`,
		"let it run for ever":    `{"spec":{"activeDeadlineSeconds":null}}`,
		"let it go at once":      `{"spec":{"ttlSecondsAfterFinished":0}}`,
		"have it fail":           `{"spec":{"backoffLimit":0}}`,
		"label it":               `{"metadata":{"labels":{"a":"b"}}}`,
		"take its label":         `{"metadata":{"labels":{"of":null}},"spec":{"suspend":false}}`,
		"annotate it":            `{"metadata":{"annotations":{"a":"b"}}}`,
		"own it":                 `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"pod","uid":"a"}]}}`,
		"never let it go":        `{"metadata":{"finalizers":["a.example/b"]}}`,
	} {
		all = append(all, abuse{
			right: "patch jobs", what: what, verb: http.MethodPatch, path: apiBatch + "WORK/jobs/job", body: change, as: types.StrategicMergePatchType,
		})
	}
	for what, change := range map[string]string{
		"run it at once":               `{"spec":{"schedule":"* * * * *","suspend":false}}`,
		"run it elsewhere in time":     `{"spec":{"timeZone":"Asia/Shanghai"}}`,
		"run more of it":               `{"spec":{"jobTemplate":{"spec":{"parallelism":99}}}}`,
		"run many at once":             `{"spec":{"concurrencyPolicy":"Replace"}}`,
		"run missed ones":              `{"spec":{"startingDeadlineSeconds":999999}}`,
		"keep no history":              `{"spec":{"successfulJobsHistoryLimit":0,"failedJobsHistoryLimit":0}}`,
		"give it an account and image": `{"spec":{"jobTemplate":` + other + `}}`,
		"label it":                     `{"metadata":{"labels":{"a":"b"}}}`,
		"annotate it":                  `{"metadata":{"annotations":{"a":"b"}}}`,
		"own it":                       `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"pod","uid":"a"}]}}`,
		"never let it go":              `{"metadata":{"finalizers":["a.example/b"]}}`,
	} {
		all = append(all, abuse{
			right: "patch cronjobs", what: what, verb: http.MethodPatch, path: apiBatch + "WORK/cronjobs/cronjob", body: change,
			as: types.StrategicMergePatchType,
		})
	}
	return slices.Concat(all, nodeAbuses(), stockAbuses(), tokenAbuses())
}

func stage(t *testing.T) (cluster *kubetest.Cluster, work string) {
	t.Helper()
	cluster = kubetest.StartOwn(t, "--no-kubelet", "--no-scheduler")
	apply(t, cluster, objects(t, withAll()))
	makeNodes(t, cluster)
	makeTokens(t, cluster)
	work = cluster.Namespace(t)
	kubetest.Create(t, cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: otherRun, Labels: map[string]string{"app.kubernetes.io/name": "gpupool"},
	}})
	makeStock(t, cluster, work)
	for _, namespace := range []string{work, manifests.RunNamespaceOf(manifests.DefaultNamespace), otherRun, metav1.NamespaceSystem} {
		kubetest.Create(t, cluster, kubetest.Deployment(namespace, "deployment", 0))
		kubetest.Create(t, cluster, kubetest.StatefulSet(namespace, "statefulset", 0))
		job := kubetest.Job(namespace, "job", 1, kubetest.GPUs(1))
		job.Labels = map[string]string{"of": "someone"}
		job.Spec.ActiveDeadlineSeconds = new(int64(3600))
		job.Spec.Suspend = new(true) // else most of it can't be changed by anybody
		kubetest.Create(t, cluster, job)
		kubetest.Create(t, cluster, &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cronjob", Labels: map[string]string{"of": "someone"}},
			Spec: batchv1.CronJobSpec{
				Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: kubetest.Job(namespace, "cronjob", 1, kubetest.GPUs(1)).Spec},
			},
		})
		pod := kubetest.Pod(namespace, "pod", restricted, kubetest.Labels(map[string]string{"of": "someone"}))
		pod.Spec.ServiceAccountName = "" // the default
		kubetest.Create(t, cluster, pod)
	}
	for _, on := range []string{"own", "other"} {
		kubetest.Create(t, cluster, kubetest.Pod(work, "on-"+on, kubetest.BoundTo(on)))
	}
	for namespace, name := range map[string]string{work: "own", manifests.RunNamespaceOf(manifests.DefaultNamespace): manifests.DefaultCredentialsSecret} {
		kubetest.Create(t, cluster, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{"a": "b"}})
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Spec: kubecluster.FreezePolicy().Spec}
	policy.Spec.ParamKind, policy.Spec.Variables, policy.Spec.MatchConstraints.ResourceRules[0].Resources = nil, nil, []string{"podtemplates"}
	policy.Spec.Validations = []admissionv1.Validation{{Expression: "false", Message: "no client creates these"}}
	kubetest.Create(t, cluster, policy)
	kubetest.Create(t, cluster, &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "foreign"},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "foreign", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	})
	return cluster, work
}

func restricted(pod *corev1.Pod) {
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func signedIn(t *testing.T, cluster *kubetest.Cluster, namespace, name string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cluster.ServiceAccountKubeconfig(t, namespace, name))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandlerWithContext = -1, rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func call(ctx context.Context, client kubernetes.Interface, a abuse, work string) error {
	return callWith(ctx, client, a, work, rest.NoWarnings{})
}

// callWith makes a call whose warnings are handled.
func callWith(ctx context.Context, client kubernetes.Interface, a abuse, work string, heard rest.WarningHandler) error {
	named := strings.NewReplacer("RUN2", otherRun, "STORE", manifests.DefaultNamespace, "RUN", manifests.RunNamespaceOf(manifests.DefaultNamespace), "WORK",
		work)
	request := client.CoreV1().RESTClient().Verb(a.verb).RequestURI(named.Replace(a.path)).WarningHandler(heard)
	if a.body != "" {
		request = request.Body([]byte(named.Replace(a.body))).SetHeader("Content-Type", "application/json")
	}
	if a.as != "" {
		request = request.SetHeader("Content-Type", string(a.as))
	}
	return request.Do(ctx).Error()
}

// TestAbuses acts as the printed accounts. The attempts share a cluster: those that leave something
// behind come last.
func TestAbuses(t *testing.T) {
	t.Parallel()
	cluster, work := stage(t)
	t.Run("of each right on foreign objects", func(t *testing.T) { rightsOnForeignObjects(t, cluster, work) })
	t.Run("of each condition", func(t *testing.T) { eachConditionIsNeeded(t, cluster, work) })
	t.Run("of an agent", func(t *testing.T) { agentMarksItsOwnNodeOnly(t, cluster, work) })
	t.Run("of each right", func(t *testing.T) { noRightCanBeAbused(t, cluster, work) })
}

func TestEachRightIsTried(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, a := range abuses() {
		tried[a.right] = true
	}
	var granted []string
	for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount, manifests.NoticeAccount} {
		granted = append(granted, printed(t, withAll(), account)...)
	}
	slices.Sort(granted)
	if diff := cmp.Diff(slices.Compact(granted), slices.Sorted(maps.Keys(tried))); diff != "" {
		t.Errorf("not every right is tried, or more than there are (-granted +tried)\n%s", diff)
	}
}

// noRightCanBeAbused acts as each printed account, and tries to abuse each of its rights.
func noRightCanBeAbused(t *testing.T, cluster *kubetest.Cluster, work string) {
	run := manifests.RunNamespaceOf(manifests.DefaultNamespace)
	for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount} {
		client := signedIn(t, cluster, run, account)
		suspend := abuse{verb: http.MethodPatch, path: apiBatch + "WORK/jobs/job", body: `{"spec":{"suspend":true}}`, as: types.MergePatchType}
		kubetest.WaitFor(t, "the rights of "+account+" to be in force", func(ctx context.Context) error { return call(ctx, client, suspend, work) })
		label := abuse{
			verb: http.MethodPatch, path: apiBatch + "WORK/jobs/job?dryRun=All", body: `{"metadata":{"labels":{"while":"waiting"}}}`, as: types.MergePatchType,
		}
		kubetest.WaitFor(t, "the limits of "+account+" to be in force", func(ctx context.Context) error {
			if err := call(ctx, client, label, work); !apierrors.IsForbidden(err) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
		t.Run(account, func(t *testing.T) {
			for _, a := range slices.Concat(abuses(), noticesOfOthers("own"), deletionsOfPods(t, cluster, work)) {
				t.Run(a.right+" to "+a.what, func(t *testing.T) {
					if err := call(t.Context(), client, a, work); !apierrors.IsForbidden(err) {
						t.Errorf("got %v, want it to be forbidden", err)
					}
				})
			}
			changesNodes(t, cluster, signedInAs(t, cluster, run, account), account)
			changesStock(t, cluster, signedInAs(t, cluster, run, account), work)
			ownsNothingByScaling(t, cluster, client, work)
			makesTokens(t, cluster, signedInAs(t, cluster, run, account), account)
			alertsTwice(t, signedInAs(t, cluster, run, account), work)
			// The rights still work.
			for what, a := range map[string]abuse{
				"suspend a Job": suspend,
				"resume it": {
					verb: http.MethodPatch, path: apiBatch + "WORK/jobs/job", body: `[{"op":"replace","path":"/spec/suspend","value":false}]`,
					as: types.JSONPatchType,
				},
				"scale": {verb: http.MethodPut, path: apiApps + "WORK/deployments/deployment/scale", body: scaled("deployment", work)},
				"scale a StatefulSet": {verb: http.MethodPut, path: apiApps + "WORK/statefulsets/statefulset/scale",
					body: scaled("statefulset", work)},
			} {
				if err := call(t.Context(), client, a, work); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			if _, err := cluster.Client().BatchV1().Jobs(work).Patch(t.Context(), "job", types.MergePatchType, []byte(`{"spec":{"suspend":true}}`),
				metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			// Until it has stopped, its template is immutable.
			kubetest.WaitFor(t, "the Job to stop", func(ctx context.Context) error {
				job, err := cluster.Client().BatchV1().Jobs(work).Get(ctx, "job", metav1.GetOptions{})
				if err == nil && job.Status.StartTime != nil {
					err = fmt.Errorf("it runs since %v", job.Status.StartTime)
				}
				return err
			})
		})
	}
	if err := call(t.Context(), signedIn(t, cluster, run, manifests.ReconcileAccount), abuse{
		verb: http.MethodPost, path: apiCore + "WORK/pods/pod/eviction", body: eviction(work),
	}, work); err != nil {
		t.Errorf("an eviction: %v", err)
	}
	t.Run("tokens", func(t *testing.T) { givesNoToken(t, cluster) })
	foreign, err := cluster.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(t.Context(), "foreign", metav1.GetOptions{})
	if err != nil || !slices.Equal(foreign.Spec.ValidationActions, []admissionv1.ValidationAction{admissionv1.Deny}) {
		t.Errorf("what another policy forbids is %+v (%v)", foreign.Spec, err)
	}
}

// alertsTwice reports an Event and counts it up, which the policy on Events allows.
func alertsTwice(t *testing.T, c *kubecluster.Cluster, work string) {
	t.Helper()
	for range 2 {
		if err := c.Alert(t.Context(), budget.Event{Namespace: work, Budget: "a", BudgetUID: "a", Reason: "BudgetThreshold", Message: "80%"}); err != nil {
			t.Errorf("an alert: %v", err)
		}
	}
}

// givesNoToken creates Secrets in the store that request tokens, as a writer of the store can.
func givesNoToken(t *testing.T, cluster *kubetest.Cluster) {
	t.Helper()
	store, run := manifests.DefaultNamespace, manifests.RunNamespaceOf(manifests.DefaultNamespace)
	client := signedIn(t, cluster, run, manifests.TerraformAccount)
	for _, account := range []string{manifests.ReconcileAccount, "default"} {
		a := abuse{verb: http.MethodPost, path: apiCore + "STORE/secrets", body: tokenFor("token-"+account, account)}
		kubetest.WaitFor(t, "the Secret to be made", func(ctx context.Context) error { return call(ctx, client, a, "") })
	}
	var token string
	kubetest.WaitFor(t, "the default account's token", func(ctx context.Context) error {
		s, err := client.CoreV1().Secrets(store).Get(ctx, "token-default", metav1.GetOptions{})
		if err == nil && len(s.Data[corev1.ServiceAccountTokenKey]) == 0 {
			err = fmt.Errorf("the Secret has %d entries", len(s.Data))
		}
		if err == nil {
			token = string(s.Data[corev1.ServiceAccountTokenKey])
		}
		return err
	})
	if s, err := client.CoreV1().Secrets(store).Get(t.Context(), "token-"+manifests.ReconcileAccount, metav1.GetOptions{}); err == nil && len(s.Data) > 0 {
		t.Errorf("there is a token of %s", manifests.ReconcileAccount)
	}
	// It may do what every account may, in the store as elsewhere.
	config := rest.AnonymousClientConfig(cluster.Config())
	config.BearerToken = token
	thief, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	bystander := signedIn(t, cluster, cluster.Namespace(t), "bystander")
	for _, namespace := range []string{store, run, metav1.NamespaceSystem} {
		var rules [2]string
		for n, client := range []kubernetes.Interface{thief, bystander} {
			review, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
				Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			rules[n] = fmt.Sprint(review.Status.ResourceRules)
		}
		if rules[0] != rules[1] {
			t.Errorf("in %s, the store's default account may\n%s, and any other\n%s", namespace, rules[0], rules[1])
		}
	}
}
