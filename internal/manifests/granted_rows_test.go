package manifests_test

import (
	"net/http"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	apiLeases = "/apis/coordination.k8s.io/v1/namespaces/"

	// Why a right may be used on what gpupool did not make.
	reads     = "reading changes nothing; the table of rights says what is shown"
	ownPlace  = "the namespace is gpupool's alone: nothing of others belongs there"
	pausing   = "it is how a budget pauses and resumes workloads"
	evicting  = "it is how a budget frees GPUs; disruption budgets are respected"
	suspends  = "it is how a budget pauses Jobs"
	reporting = "it is reported in gpupool's own name"
	pooling   = "it is a stock pool's by its label, which only this account or its owner gives"
	marking   = "it is how a pool marks its instances, and cordons them in its name"
)

func lease(about metav1.ObjectMeta) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: about, Spec: coordinationv1.LeaseSpec{HolderIdentity: new("someone")}}
}

func put(path, body string) abuse { return abuse{verb: http.MethodPut, path: path, body: body} }

func post(path, body string) abuse { return abuse{verb: http.MethodPost, path: path, body: body} }

func remove(path string) abuse { return abuse{verb: http.MethodDelete, path: path} }

func merge(path, body string) abuse {
	return abuse{verb: http.MethodPatch, path: path, body: body, as: types.MergePatchType}
}

func event(name, component, more string) string {
	return `{"apiVersion":"v1","kind":"Event","metadata":{"name":"` + name + `","namespace":"WORK"` + more +
		`},"involvedObject":{"kind":"Namespace","name":"WORK","namespace":"WORK"},"source":{"component":"` + component + `"}}`
}

// foreignAttempts are, for each right that is printed, its uses on what gpupool did not make.
func foreignAttempts() map[string][]attempt {
	all := map[string][]attempt{}
	for _, rows := range []map[string][]attempt{storeAttempts(), readAttempts(), enforceAttempts(), nodeAttempts(), stockAttempts()} {
		for right, list := range rows {
			all[right] = list
		}
	}
	return all
}

// storeAttempts are those with the rights on the store, and on bootstrap tokens.
func storeAttempts() map[string][]attempt {
	rows := map[string][]attempt{
		"create secrets in kube-system": {
			refused("make a Secret", post(apiSecrets, secret("mine"))),
			refused("ask for a controller's token", post(apiSecrets, tokenFor("mine", "default"))),
		},
		"delete secrets in kube-system": {
			refused("delete a controller's Secret", remove(apiSecrets+"/controller")),
			refused("delete kubeadm's token", remove(apiSecrets+"/bootstrap-token-kubead")),
		},
	}
	for resource, o := range map[string]struct{ in, path, body string }{
		"secrets":                    {apiCore + "STORE", "secrets", secret("NAME")},
		"configmaps":                 {apiCore + "STORE", "configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME"}}`},
		"coordination.k8s.io/leases": {apiLeases + "STORE", "leases", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"NAME"}}`},
	} {
		named := func(name string) string { return strings.Replace(o.body, "NAME", name, 1) }
		at := o.in + "/" + o.path
		elsewhere := strings.Replace(at, "STORE", "WORK", 1)
		rows["get "+resource+" in the store"] = []attempt{get(at+"/foreign", ownPlace), get(elsewhere+"/foreign", "")}
		rows["create "+resource+" in the store"] = []attempt{
			allowed("make one", ownPlace, post(at, named("mine"))), refused("make one elsewhere", post(elsewhere, named("mine"))),
		}
		rows["delete "+resource+" in the store"] = []attempt{
			allowed("delete one", ownPlace, remove(at+"/foreign")), refused("delete one elsewhere", remove(elsewhere+"/foreign")),
		}
		version := strings.Replace(named("foreign"), `"name":"foreign"`, `"name":"foreign","resourceVersion":"1"`, 1)
		rows["update "+resource+" in the store"] = []attempt{
			allowed("change one", ownPlace, put(at+"/foreign", version)), refused("change one elsewhere", put(elsewhere+"/foreign", version)),
		}
		if resource != "coordination.k8s.io/leases" {
			rows["list "+resource+" in the store"] = []attempt{get(at, ownPlace), get(elsewhere, "")}
		}
	}
	return rows
}

func readAttempts() map[string][]attempt {
	const apiDevices, apiScheduling = "/apis/resource.k8s.io/v1/", "/apis/scheduling.k8s.io/v1/"
	return map[string][]attempt{
		"get namespaces by name":    {get(apiCore+"kube-system", reads)},
		"get namespaces everywhere": list(apiCore+"WORK", reads), "list namespaces everywhere": list("/api/v1/namespaces", reads),
		"watch namespaces everywhere": watch("/api/v1/namespaces", reads),
		"list nodes everywhere":       list("/api/v1/nodes", reads), "watch nodes everywhere": watch("/api/v1/nodes", reads),
		"get nodes everywhere": list(apiNodes+"other", reads),
		"get pods everywhere":  list(apiCore+"WORK/pods/pod", reads), "list pods everywhere": list("/api/v1/pods", reads),
		"watch pods everywhere": watch("/api/v1/pods", reads),
		"get events everywhere": list(apiCore+"WORK/events/foreign", reads), "list events everywhere": list("/api/v1/events", reads),
		"list scheduling.k8s.io/priorityclasses everywhere":                              list(apiScheduling+"priorityclasses", reads),
		"list resource.k8s.io/resourceslices everywhere":                                 list(apiDevices+"resourceslices", reads),
		"list resource.k8s.io/resourceclaims everywhere":                                 list(apiDevices+"resourceclaims", reads),
		"watch resource.k8s.io/resourceclaims everywhere":                                watch(apiDevices+"resourceclaims", reads),
		"list admissionregistration.k8s.io/validatingadmissionpolicybindings everywhere": list(apiAdmission+"validatingadmissionpolicybindings", reads),
		"get admissionregistration.k8s.io/validatingadmissionpolicies by name": {get(apiAdmission+"validatingadmissionpolicies/gpupool-freeze",
			reads), get(apiAdmission+"validatingadmissionpolicies/foreign", "")},
		"get apps/deployments everywhere":                      list(apiApps+"WORK/deployments/deployment", reads),
		"list apps/deployments everywhere":                     list("/apis/apps/v1/deployments", reads),
		"get apps/statefulsets everywhere":                     list(apiApps+"WORK/statefulsets/statefulset", reads),
		"list apps/statefulsets everywhere":                    list("/apis/apps/v1/statefulsets", reads),
		"get apps/replicasets everywhere":                      list(apiApps+"WORK/replicasets/foreign", reads),
		"list apps/replicasets everywhere":                     list("/apis/apps/v1/replicasets", reads),
		"list autoscaling/horizontalpodautoscalers everywhere": list("/apis/autoscaling/v2/horizontalpodautoscalers", reads),
		"create authentication.k8s.io/tokenreviews everywhere": {allowed("review a token", reads, post("/apis/authentication.k8s.io/v1/tokenreviews",
			`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"unknown"}}`))},
		"create authorization.k8s.io/subjectaccessreviews everywhere": {allowed("review a right", reads, post(
			"/apis/authorization.k8s.io/v1/subjectaccessreviews",
			`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"someone",`+
				`"nonResourceAttributes":{"path":"/","verb":"get"}}}`))},
		"get batch/jobs everywhere":                   list(apiBatch+"WORK/jobs/job", reads),
		"get batch/cronjobs everywhere":               list(apiBatch+"WORK/cronjobs/cronjob", reads),
		"list batch/jobs everywhere":                  list("/apis/batch/v1/jobs", reads),
		"get policy/poddisruptionbudgets everywhere":  list(apiPolicy+"WORK/poddisruptionbudgets/guard", reads),
		"list policy/poddisruptionbudgets everywhere": list("/apis/policy/v1/poddisruptionbudgets", reads),
	}
}

// enforceAttempts are those with the rights to enforce budgets, and to lift that.
func enforceAttempts() map[string][]attempt {
	evict := func(namespace, grace string) abuse {
		return post(apiCore+namespace+"/pods/pod/eviction", strings.TrimSuffix(eviction(namespace), "}")+`,"deleteOptions":{"gracePeriodSeconds":`+grace+`}}`)
	}
	rows := map[string][]attempt{
		"update admissionregistration.k8s.io/validatingadmissionpolicybindings by name": {
			refused("disarm a foreign binding", put(apiAdmission+"validatingadmissionpolicybindings/foreign", bindingNamed("foreign"))),
			refused("disarm the limits", put(apiAdmission+"validatingadmissionpolicybindings/gpupool-system-events", bindingNamed("gpupool-system-events"))),
		},
		"create events everywhere": {
			allowed("report one", reporting, post(apiCore+"WORK/events", event("mine", "gpupool", ""))),
			refused("report one as the kubelet", post(apiCore+"WORK/events", event("mine", "kubelet", ""))),
			refused("report one that never goes", post(apiCore+"WORK/events", event("mine", "gpupool", `,"finalizers":["a.example/b"]`))),
			refused("report one that is owned", post(apiCore+"WORK/events", event("mine", "gpupool", ","+anOwner))),
		},
		"update events everywhere": {
			refused("rewrite the kubelet's", put(apiCore+"WORK/events/foreign", event("foreign", "kubelet", ""))),
			refused("take the kubelet's", put(apiCore+"WORK/events/foreign", event("foreign", "gpupool", ""))),
			refused("label its own", put(apiCore+"WORK/events/reported", event("reported", "gpupool", `,"labels":{"a":"b"}`))),
			allowed("repeat its own", reporting, put(apiCore+"WORK/events/reported", event("reported", "gpupool", ""))),
		},
		"patch batch/jobs everywhere": {
			allowed("resume one", suspends, merge(apiBatch+"WORK/jobs/job", `{"spec":{"suspend":false}}`)),
			refused("run more of one", merge(apiBatch+"WORK/jobs/job", `{"spec":{"parallelism":99}}`)),
			refused("resume one of the system", merge(apiBatch+"kube-system/jobs/job", `{"spec":{"suspend":false}}`)),
			refused("resume one of another installation", merge(apiBatch+"RUN2/jobs/job", `{"spec":{"suspend":false}}`)),
		},
		"patch batch/cronjobs everywhere": {
			allowed("suspend one", suspends, merge(apiBatch+"WORK/cronjobs/cronjob", `{"spec":{"suspend":true}}`)),
			refused("start it at another time", merge(apiBatch+"WORK/cronjobs/cronjob", `{"spec":{"schedule":"* * * * *"}}`)),
			refused("suspend one of the system", merge(apiBatch+"kube-system/cronjobs/cronjob", `{"spec":{"suspend":true}}`)),
			refused("suspend one of another installation", merge(apiBatch+"RUN2/cronjobs/cronjob", `{"spec":{"suspend":true}}`)),
		},
		"create pods/eviction everywhere": {
			allowed("evict one", evicting, evict("WORK", "1")),
			refused("kill one without a grace period", evict("WORK", "0")),
			refused("evict one of the system", evict("kube-system", "1")),
			refused("evict one of another installation", evict("RUN2", "1")),
		},
	}
	for _, kind := range []string{"deployment", "statefulset"} {
		scale := func(namespace string) abuse {
			return put(apiApps+namespace+"/"+kind+"s/"+kind+"/scale", scaled(kind, namespace))
		}
		rows["update apps/"+kind+"s/scale everywhere"] = []attempt{
			allowed("scale one", pausing, scale("WORK")), refused("scale one of the system", scale("kube-system")),
			refused("scale one of another installation", scale("RUN2")),
		}
	}
	return rows
}

func nodeAttempts() map[string][]attempt {
	return map[string][]attempt{
		"patch nodes everywhere": {
			allowed("mark one of this cloud", marking, merge(apiNodes+"other", `{"metadata":{"annotations":{"gpupool/pool-uid":"a"}}}`)),
			refused("mark one of another cloud", merge(apiNodes+"elsewhere", `{"metadata":{"annotations":{"gpupool/pool-uid":"a"}}}`)),
			refused("uncordon what somebody cordoned", merge(apiNodes+"closed", `{"spec":{"unschedulable":false}}`)),
			refused("label one", merge(apiNodes+"other", `{"metadata":{"labels":{"a":"b"}}}`)),
		},
		"patch nodes/status everywhere": {
			refused("have one bear a notice", noticesOfOthers("other")[0]),
			refused("give one GPUs", merge(apiNodes+"other/status", `{"status":{"capacity":{"nvidia.com/gpu":"99"}}}`)),
		},
		"delete pods everywhere": {
			refused("delete one without a node", remove(apiCore+"WORK/pods/pod")), refused("delete one by its name", remove(apiCore+"WORK/pods/on-own")),
		},
		"delete nodes everywhere": {
			refused("delete one without a mark", remove(apiNodes+"other")),
			refused("delete one of another cloud", remove(apiNodes+"moved")),
		},
	}
}

func stockAttempts() map[string][]attempt {
	rows := map[string][]attempt{
		"patch pods everywhere": {
			refused("spare one that is not of a stock pool",
				merge(apiCore+"WORK/pods/pod", `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"1000"}}}`)),
			refused("label one", merge(apiCore+"WORK/pods/pod", `{"metadata":{"labels":{"gpupool/stock-pool":"stock"}}}`)),
		},
	}
	for kind, o := range map[string]struct{ at, name, own, change string }{
		"apps/deployments":            {apiApps + "WORK/deployments", "deployment", aDeployment, `{"spec":{"replicas":1}}`},
		"policy/poddisruptionbudgets": {apiPolicy + "WORK/poddisruptionbudgets", "guard", aGuard, `{"spec":{"minAvailable":0}}`},
	} {
		other := strings.Replace(o.at, "WORK", "RUN2", 1)
		rows["create "+kind+" everywhere"] = []attempt{
			allowed("make one with its own label", pooling, post(o.at, labeled(o.own, "mine", "mine"))),
			refused("make one without the label", post(o.at, strings.Replace(labeled(o.own, "mine", "x"), "gpupool/stock-pool", "app", 1))),
			refused("make one beside the accounts of another installation", post(other, labeled(o.own, "mine", "mine"))),
		}
		rows["patch "+kind+" everywhere"] = []attempt{
			refused("change one", merge(o.at+"/"+o.name, o.change)),
			refused("claim one", merge(o.at+"/"+o.name, `{"metadata":{"labels":{"gpupool/stock-pool":"`+o.name+`"}}}`)),
			refused("change one of another installation", merge(other+"/stock", o.change)),
		}
		rows["delete "+kind+" everywhere"] = []attempt{
			refused("delete one", remove(o.at+"/"+o.name)), refused("delete one of another installation", remove(other+"/stock")),
		}
	}
	return rows
}
