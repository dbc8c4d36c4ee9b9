package manifests_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

const apiNodes = "/api/v1/nodes/"

// makeNodes creates the nodes to abuse. own and other are Tencent Cloud nodes. marked is a
// pool's, and cordoned is cordoned by a pool. blank has an empty mark, and closed has a foreign cordon.
// elsewhere and moved are of another cloud, and moved has a mark. bare has no provider ID.
func makeNodes(t *testing.T, cluster *kubetest.Cluster) {
	t.Helper()
	for name, change := range map[string]func(*corev1.Node){
		"own":   func(*corev1.Node) {},
		"other": func(*corev1.Node) {},
		"marked": func(n *corev1.Node) {
			n.Annotations[kubecluster.NodePoolAnnotation] = "pool-1"
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		},
		"cordoned": func(n *corev1.Node) {
			n.Annotations[kubecluster.NodePoolAnnotation] = "pool-1"
			n.Annotations[kubecluster.NodeCordonAnnotation], n.Spec.Unschedulable = "pool-1", true
		},
		"blank":     func(n *corev1.Node) { n.Annotations[kubecluster.NodePoolAnnotation] = "" },
		"closed":    func(n *corev1.Node) { n.Spec.Unschedulable = true },
		"elsewhere": func(n *corev1.Node) { n.Spec.ProviderID = "aws:///a/i-1" },
		"moved": func(n *corev1.Node) {
			n.Annotations[kubecluster.NodePoolAnnotation], n.Spec.ProviderID = "pool-1", "aws:///a/i-2"
			n.Annotations[kubecluster.NodeCordonAnnotation], n.Spec.Unschedulable = "pool-1", true
		},
		"bare": func(n *corev1.Node) { n.Spec.ProviderID = "" },
	} {
		kubetest.Create(t, cluster, kubetest.Node(name, 8, func(n *corev1.Node) {
			n.Annotations = map[string]string{"of": "someone"}
			change(n)
		}))
	}
}

func ofNode(right, what, name, body string) abuse {
	return abuse{right: right, what: what, verb: http.MethodPatch, path: apiNodes + name, body: body, as: types.MergePatchType}
}

// nodeAbuses are changes of nodes that no account of gpupool may make.
func nodeAbuses() []abuse {
	all := []abuse{
		{right: "get nodes", what: "read its logs", verb: http.MethodGet, path: apiNodes + "own/proxy/logs/"},
		{
			right: "get nodes", what: "write one whole", verb: http.MethodPut, path: apiNodes + "own",
			body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"own"}}`,
		},
		{
			right: "get nodes", what: "make one", verb: http.MethodPost, path: "/api/v1/nodes",
			body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"mine"}}`,
		},
		{
			right: "patch nodes", what: "make one by patching", verb: http.MethodPatch, path: apiNodes + "mine?fieldManager=a",
			body: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"mine"}}`, as: types.ApplyPatchType,
		},
		{right: "delete nodes", what: "delete one without a mark", verb: http.MethodDelete, path: apiNodes + "other"},
		{right: "delete nodes", what: "delete one with an empty mark", verb: http.MethodDelete, path: apiNodes + "blank"},
		{right: "delete nodes", what: "delete one of another cloud", verb: http.MethodDelete, path: apiNodes + "elsewhere"},
		{right: "delete nodes", what: "delete a marked one of another cloud", verb: http.MethodDelete, path: apiNodes + "moved"},
		{right: "delete nodes", what: "delete a Ready one with a mark", verb: http.MethodDelete, path: apiNodes + "marked"},
		{right: "delete nodes", what: "delete all", verb: http.MethodDelete, path: "/api/v1/nodes"},
		ofNode("patch nodes", "cordon one without a name", "own", `{"spec":{"unschedulable":true}}`),
		ofNode("patch nodes", "cordon one in an empty name", "own", `{"metadata":{"annotations":{"gpupool/cordoned-by":""}},"spec":{"unschedulable":true}}`),
		ofNode("patch nodes", "cordon one of another cloud", "elsewhere",
			`{"metadata":{"annotations":{"gpupool/cordoned-by":"a"}},"spec":{"unschedulable":true}}`),
		ofNode("patch nodes", "uncordon what somebody cordoned", "closed", `{"spec":{"unschedulable":false}}`),
		ofNode("patch nodes", "claim what somebody cordoned", "closed", `{"metadata":{"annotations":{"gpupool/cordoned-by":"a"}}}`),
		ofNode("patch nodes", "uncordon and claim it at once", "closed",
			`{"metadata":{"annotations":{"gpupool/cordoned-by":"a"}},"spec":{"unschedulable":false}}`),
		ofNode("patch nodes", "say that it cordoned one that is not", "own", `{"metadata":{"annotations":{"gpupool/cordoned-by":"a"}}}`),
		ofNode("patch nodes", "claim what a pool cordoned", "cordoned", `{"metadata":{"annotations":{"gpupool/cordoned-by":"a"}}}`),
		ofNode("patch nodes", "forget who cordoned one", "cordoned", `{"metadata":{"annotations":{"gpupool/cordoned-by":null}}}`),
		ofNode("patch nodes", "say that it cordoned one that it uncordons", "cordoned", `{"spec":{"unschedulable":false}}`),
		ofNode("patch nodes", "forget who manages one of another cloud", "elsewhere", `{"metadata":{"managedFields":[{}]}}`),
		ofNode("patch nodes", "uncordon one of another cloud", "moved",
			`{"metadata":{"annotations":{"gpupool/cordoned-by":null}},"spec":{"unschedulable":false}}`),
		ofNode("patch nodes", "mark one of another cloud", "elsewhere", `{"metadata":{"annotations":{"gpupool/pool-uid":"a"}}}`),
		ofNode("patch nodes", "mark one with nothing", "own", `{"metadata":{"annotations":{"gpupool/pool-uid":""}}}`),
		ofNode("patch nodes", "mark one as another pool's", "marked", `{"metadata":{"annotations":{"gpupool/pool-uid":"a"}}}`),
		ofNode("patch nodes", "take all annotations away", "marked", `{"metadata":{"annotations":null}}`),
		ofNode("patch nodes", "call it an instance", "bare", `{"spec":{"providerID":"qcloud:///1/ins-a"}}`),
	}
	for what, change := range map[string]string{
		"label it":                  `{"metadata":{"labels":{"a":"b"}}}`,
		"take its labels":           `{"metadata":{"labels":null}}`,
		"annotate it":               `{"metadata":{"annotations":{"a":"b"}}}`,
		"annotate it with the mark": `{"metadata":{"annotations":{"gpupool/pool-uid":"a","a":"b"}}}`,
		"change an annotation":      `{"metadata":{"annotations":{"of":"me"}}}`,
		"take an annotation":        `{"metadata":{"annotations":{"of":null}}}`,
		"own it":                    `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"pod","uid":"a"}]}}`,
		"never let it go":           `{"metadata":{"finalizers":["a.example/b"]}}`,
		"taint it":                  `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`,
		"take its taints":           `{"spec":{"taints":null}}`,
		"give it addresses":         `{"spec":{"podCIDR":"10.1.0.0/24","podCIDRs":["10.1.0.0/24"]}}`,
		"taint it with any value":   `{"spec":{"taints":[{"key":"kubetest.gpupool.dev/reserved","value":"true","effect":"NoSchedule"},{"key":"gpupool/reclaim","value":"soon","effect":"NoSchedule"}]}}`,
		"evict by our taint":        `{"spec":{"taints":[{"key":"kubetest.gpupool.dev/reserved","value":"true","effect":"NoSchedule"},{"key":"gpupool/reclaim","value":"20261122T180000Z","effect":"NoExecute"}]}}`,
	} {
		all = append(all, ofNode("patch nodes", what, "own", change))
	}
	message := node.Notice{At: time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)}.String()
	notice := `{"type":"GpupoolReclaim","status":"True","reason":"SpotReclaim","message":"` + message + `"}`
	for what, status := range map[string]string{
		"say that it is not ready":   `{"conditions":[{"type":"Ready","status":"False"}]}`,
		"say that it has no memory":  `{"conditions":[{"type":"MemoryPressure","status":"True"}]}`,
		"give it another address":    `{"addresses":[{"type":"InternalIP","address":"10.9.9.9"}]}`,
		"give it GPUs":               `{"capacity":{"nvidia.com/gpu":"99"}}`,
		"give a notice in no words":  `{"conditions":[{"type":"GpupoolReclaim","status":"True","reason":"SpotReclaim","message":"soon"}]}`,
		"say that there is none":     `{"conditions":[{"type":"GpupoolReclaim","status":"False","reason":"SpotReclaim","message":"` + message + `"}]}`,
		"give it for any reason":     `{"conditions":[{"type":"GpupoolReclaim","status":"True","reason":"AnyText","message":"` + message + `"}]}`,
		"give it for no reason":      `{"conditions":[{"type":"GpupoolReclaim","status":"True","reason":"","message":"` + message + `"}]}`,
		"have its kubelet elsewhere": `{"daemonEndpoints":{"kubeletEndpoint":{"Port":9}}}`,
	} {
		all = append(all, abuse{
			right: "patch nodes/status", what: what, verb: http.MethodPatch, path: apiNodes + "own/status", body: `{"status":` + status + `}`,
			as: types.StrategicMergePatchType,
		})
	}
	return append(all,
		abuse{
			right: "patch nodes/status", what: "give two notices", verb: http.MethodPatch, path: apiNodes + "own/status",
			body: `{"status":{"conditions":[` + notice + `,` + notice + `]}}`, as: types.MergePatchType,
		},
		abuse{
			right: "patch nodes/status", what: "label it", verb: http.MethodPatch, path: apiNodes + "own/status", body: `{"metadata":{"labels":{"a":"b"}}}`,
			as: types.StrategicMergePatchType,
		},
		abuse{
			right: "patch nodes/status", what: "mark it", verb: http.MethodPatch, path: apiNodes + "own/status",
			body: `{"metadata":{"annotations":{"gpupool/pool-uid":"a"}}}`, as: types.StrategicMergePatchType,
		},
	)
}

func noticesOfOthers(name string) []abuse {
	at := time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)
	return []abuse{
		{
			right: "patch nodes/status", what: "have " + name + " bear a notice", verb: http.MethodPatch, path: apiNodes + name + "/status",
			as:   types.StrategicMergePatchType,
			body: `{"status":{"conditions":[{"type":"GpupoolReclaim","status":"True","reason":"SpotReclaim","message":"` + node.Notice{At: at}.String() + `"}]}}`,
		},
		ofNode("patch nodes", "have "+name+" bear the taint of a notice", name,
			`{"spec":{"taints":[{"key":"kubetest.gpupool.dev/reserved","value":"true","effect":"NoSchedule"},{"key":"gpupool/reclaim","value":"20261122T180000Z","effect":"NoSchedule"}]}}`),
	}
}

// deletionOfPod is how an agent deletes a pod of its node.
func deletionOfPod(t *testing.T, cluster *kubetest.Cluster, work, on string) abuse {
	t.Helper()
	pod, err := cluster.Client().CoreV1().Pods(work).Get(t.Context(), "on-"+on, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return abuse{
		right: "delete pods", what: "delete a pod on " + on, verb: http.MethodDelete, path: apiCore + "WORK/pods/on-" + on,
		body: fmt.Sprintf(`{"gracePeriodSeconds":30,"preconditions":{"uid":%q}}`, pod.UID),
	}
}

// deletionsOfPods are those that the agent of the node own may not make.
func deletionsOfPods(t *testing.T, cluster *kubetest.Cluster, work string) []abuse {
	t.Helper()
	own := deletionOfPod(t, cluster, work, "own")
	all := []abuse{deletionOfPod(t, cluster, work, "other")}
	for what, change := range map[string][2]string{
		"kill a pod":               {`:30,`, `:0,`},
		"delete a pod by its name": {`"uid"`, `"no"`},
	} {
		a := own
		a.what, a.body = what, strings.Replace(own.body, change[0], change[1], 1)
		all = append(all, a)
	}
	return all
}

func signedInAs(t *testing.T, cluster *kubetest.Cluster, namespace, name string) *kubecluster.Cluster {
	t.Helper()
	return kubecluster.New(connect(t, kubeclient.Config{ConfigPath: cluster.ServiceAccountKubeconfig(t, namespace, name)}))
}

func changesNodes(t *testing.T, server *kubetest.Cluster, c *kubecluster.Cluster, account string) {
	t.Helper()
	ctx := t.Context()
	for _, id := range []string{"qcloud:///900002/ins-" + account[8:], ""} {
		made := kubetest.Create(t, server, kubetest.Node("", 8, func(n *corev1.Node) { n.GenerateName, n.Spec.ProviderID, n.Labels = "used-", id, nil }))
		n := node.Node{Name: made.Name, UID: string(made.UID)}
		n.Pool = "pool-1"
		for _, do := range []func() error{
			func() error { return c.MarkNode(ctx, n, "pool-2") },
			func() error { return c.UnmarkNode(ctx, n, "pool-2") },
			func() error { return c.MarkNode(ctx, n, "pool-1") },
			func() error { return c.MarkNode(ctx, n, "pool-1") },
			func() error { return c.CordonNode(ctx, n, "pool-1") },
			func() error { return c.UncordonNode(ctx, n, "pool-1") },
			func() error { return c.CordonNode(ctx, n, "pool-1") },
			func() error { return server.Silence(ctx, n.Name) },
			func() error { return c.DeleteNode(ctx, n, "pool-1") },
		} {
			if err := do(); err != nil {
				t.Error(err)
			}
		}
		if _, err := server.Client().CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the node is there: %v", err)
		}
	}
}

func boundToken(t *testing.T, cluster *kubetest.Cluster, on string) string {
	t.Helper()
	run := manifests.RunNamespaceOf(manifests.DefaultNamespace)
	pod := kubetest.Pod(run, "", restricted)
	pod.Spec.ServiceAccountName, pod.Spec.NodeName = manifests.NoticeAccount, on
	pod = kubetest.Create(t, cluster, pod)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(3600)),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	token, err := cluster.Client().CoreV1().ServiceAccounts(run).CreateToken(t.Context(), manifests.NoticeAccount, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

// agentMarksItsOwnNodeOnly acts as the agent of the node own: there it gives and takes a notice, and can
// do nothing else, nor anything anywhere else. A token that is bound to no node can do nothing.
func agentMarksItsOwnNodeOnly(t *testing.T, cluster *kubetest.Cluster, work string) {
	config := rest.AnonymousClientConfig(cluster.Config())
	config.BearerToken, config.QPS = boundToken(t, cluster, "own"), -1
	agent, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	allowed := noticesOfOthers("own")
	for _, a := range allowed {
		kubetest.WaitFor(t, "the right to "+a.what, func(ctx context.Context) error { return call(ctx, agent, a, work) })
	}
	label := ofNode("", "", "own?dryRun=All", `{"metadata":{"labels":{"while":"waiting"}}}`)
	kubetest.WaitFor(t, "the policy to be in force", func(ctx context.Context) error {
		if err := call(ctx, agent, label, work); !apierrors.IsForbidden(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	refused := func(t *testing.T, client kubernetes.Interface, list []abuse) {
		t.Helper()
		for _, a := range list {
			if err := call(t.Context(), client, a, work); !apierrors.IsForbidden(err) {
				t.Errorf("%s to %s: got %v, want it to be forbidden", a.right, a.what, err)
			}
		}
	}
	t.Run("its own node", func(t *testing.T) { refused(t, agent, abuses()) })
	t.Run("another node", func(t *testing.T) { refused(t, agent, noticesOfOthers("other")) })
	t.Run("pods", func(t *testing.T) { refused(t, agent, deletionsOfPods(t, cluster, work)) })
	allowed = append(allowed, deletionOfPod(t, cluster, work, "own"))
	unbound := signedIn(t, cluster, manifests.RunNamespaceOf(manifests.DefaultNamespace), manifests.NoticeAccount)
	t.Run("without a node", func(t *testing.T) { refused(t, unbound, append(allowed, noticesOfOthers("other")...)) })
	config.BearerToken = boundToken(t, cluster, "other")
	neighbor, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("of another node", func(t *testing.T) { refused(t, neighbor, allowed) })
	if err := call(t.Context(), agent, allowed[len(allowed)-1], work); err != nil {
		t.Error(err)
	}

	// The right works on a node with foreign taints and on one without taints.
	for _, name := range []string{"own", "bare"} {
		c := kubecluster.New(connect(t, kubeclient.Config{
			Host: cluster.Config().Host, ClusterCACertificate: string(cluster.Config().CAData), Token: boundToken(t, cluster, name),
		}))
		now := time.Now()
		for what, do := range []func() error{
			func() error { return c.SetNotice(t.Context(), name, node.Notice{At: now.Add(2 * time.Minute)}, now) },
			func() error { return c.SetNotice(t.Context(), name, node.Notice{At: now.Add(3 * time.Minute)}, now) },
			func() error { return c.ClearNotice(t.Context(), name) },
			func() error {
				_, err := c.PodsOn(t.Context(), name)
				return err
			},
		} {
			if err := do(); err != nil {
				t.Errorf("%s, %d: %v", name, what, err)
			}
		}
		if _, marked, err := c.Notice(t.Context(), name); err != nil || marked {
			t.Errorf("%s is marked: %t (%v)", name, marked, err)
		}
	}
}
