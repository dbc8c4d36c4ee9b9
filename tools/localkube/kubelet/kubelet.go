// Package kubelet replaces the kubelets of a cluster's nodes. It keeps the nodes Ready, runs
// the pods that are bound to them, ends them as their annotations say, and completes deletions.
// No container is started.
//
// It serves each node with the label Managed, for as long as the node object exists. Step
// decides the status of a pod only from the pod and the time. So a restarted kubelet resumes.
//
// KWOK (sigs.k8s.io/kwok) cannot replace it. As of v0.8.0, a stage selects an object by that
// object's own fields, and fills in a template after a delay. It knows neither the node's
// capacity nor the other pods there, so it rejects no pod that does not fit. Also, the stages
// and templates for Step would be as long.
package kubelet

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// prefix of the labels and annotations of this package.
const prefix = "localkube.gpupool.dev/"

// workers is how many pods and nodes are worked on at once.
const workers = 8

// heartbeat is how often a node's lease is renewed, as the kubelet does.
const heartbeat = 10 * time.Second

// key is an item of the work queue: a pod of a node, or the node itself if the pod is empty.
type key struct {
	node string
	pod  types.NamespacedName
}

// kubelet serves many nodes out of one queue. The queue also keeps the times
// at which a pod is to be looked at again, so that waiting costs nothing.
type kubelet struct {
	client kubernetes.Interface
	nodes  cache.Store
	queue  workqueue.TypedRateLimitingInterface[key]

	mu   sync.Mutex
	pods map[string]*podsOfNode

	deletions sync.Map // of time.Time, by the pod's uid
}

// podsOfNode is the watch of one served node's pods.
type podsOfNode struct {
	store cache.Store
	stop  context.CancelFunc

	admission sync.Mutex         // held while a pod is taken on
	admitted  map[types.UID]bool // what was taken on, which the store may not show yet
}

func (p *podsOfNode) forget(uid types.UID) {
	p.admission.Lock()
	defer p.admission.Unlock()
	delete(p.admitted, uid)
}

// others returns the other pods that the kubelet has admitted, and that have not ended.
func (p *podsOfNode) others(pod *corev1.Pod) []*corev1.Pod {
	var others []*corev1.Pod
	for _, object := range p.store.List() {
		other := object.(*corev1.Pod)
		taken := other.Status.StartTime != nil || p.admitted[other.UID]
		if other.UID != pod.UID && taken && !terminal(other.Status.Phase) {
			others = append(others, other)
		}
	}
	return others
}

// Run registers the nodes, and serves them and each other managed node until
// ctx is done. Nodes that are registered already stay as they are.
func Run(ctx context.Context, config *rest.Config, nodes []*corev1.Node) error {
	config = rest.CopyConfig(config)
	config.UserAgent = "kubelet/v1.36.3" // the name of its field manager
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("register node %s: %w", node.Name, err)
		}
	}

	k := &kubelet{
		client: client,
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[key](20*time.Millisecond, 2*time.Second)),
		pods:   map[string]*podsOfNode{},
	}
	defer k.queue.ShutDown()
	managed := cache.NewFilteredListWatchFromClient(client.CoreV1().RESTClient(), "nodes", metav1.NamespaceAll,
		func(options *metav1.ListOptions) { options.LabelSelector = Managed + "=true" })
	var controller cache.Controller
	k.nodes, controller = cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: managed,
		ObjectType:    &corev1.Node{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { k.serve(ctx, object.(*corev1.Node).Name) },
			UpdateFunc: func(_, object any) { k.queue.Add(key{node: object.(*corev1.Node).Name}) },
			DeleteFunc: func(object any) { k.drop(object) },
		},
	})
	for range workers {
		go k.work(ctx)
	}
	controller.RunWithContext(ctx)
	return ctx.Err()
}

// serve starts to watch a node's pods.
func (k *kubelet) serve(ctx context.Context, node string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[node] != nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	look := func(object any) {
		pod := object.(*corev1.Pod)
		k.queue.Add(key{node: node, pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}})
	}
	pods := &podsOfNode{stop: stop, admitted: map[types.UID]bool{}}
	gone := func(object any) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		if pod, ok := object.(*corev1.Pod); ok {
			pods.forget(pod.UID)
		}
	}
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(k.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll,
			fields.OneTermEqualSelector("spec.nodeName", node)),
		ObjectType: &corev1.Pod{},
		Handler:    cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, object any) { look(object) }, DeleteFunc: gone},
	})
	pods.store = store
	k.pods[node] = pods
	go controller.RunWithContext(ctx)
	k.queue.Add(key{node: node})
}

// drop stops serving a node whose object, or label, is gone. Its pods are left to the pod
// garbage collector, like those of a deleted machine.
func (k *kubelet) drop(object any) {
	name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if pods := k.pods[name]; pods != nil {
		pods.stop()
		delete(k.pods, name)
	}
}

// served returns a node's pods, nil if the node is not served.
func (k *kubelet) served(node string) *podsOfNode {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods[node]
}

func (k *kubelet) work(ctx context.Context) {
	for {
		next, stopped := k.queue.Get()
		if stopped {
			return
		}
		again, err := k.look(ctx, next)
		switch {
		case err != nil && ctx.Err() == nil:
			if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				klog.ErrorS(err, "Stand-in kubelet", "node", next.node, "pod", next.pod)
			}
			k.queue.AddRateLimited(next)
		default:
			k.queue.Forget(next)
			if again > 0 {
				k.queue.AddAfter(next, again)
			}
		}
		k.queue.Done(next)
	}
}

// look does what is due for a node or a pod. It returns the time until something is due again;
// 0 means until the next change.
func (k *kubelet) look(ctx context.Context, at key) (again time.Duration, err error) {
	pods := k.served(at.node)
	if pods == nil {
		return 0, nil
	}
	object, exists, err := k.nodes.GetByKey(at.node)
	if err != nil || !exists {
		return 0, err
	}
	node := object.(*corev1.Node)
	if at.pod.Name == "" {
		return heartbeat, k.keepReady(ctx, node)
	}
	object, exists, err = pods.store.GetByKey(at.pod.String())
	if err != nil || !exists {
		return 0, err
	}
	return k.step(ctx, pods, object.(*corev1.Pod), node)
}

// step brings a pod's object to where the pod would be by now.
func (k *kubelet) step(ctx context.Context, beside *podsOfNode, pod *corev1.Pod, node *corev1.Node) (again time.Duration, err error) {
	now := time.Now()
	next, err := k.next(ctx, beside, pod, node, now)
	if err != nil {
		return 0, err
	}
	pods := k.client.CoreV1().Pods(pod.Namespace)
	if next.Status != nil {
		pod = pod.DeepCopy()
		pod.Status = *next.Status
		if _, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return 0, err
		}
	}
	if next.Remove {
		defer k.deletions.Delete(pod.UID)
		return 0, pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64),
			Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
		})
	}
	if next.At.IsZero() {
		return 0, nil
	}
	return max(next.At.Sub(now), time.Millisecond), nil
}

// next decides what is due. New pods of a node are taken on one after the other,
// so that two don't get the same room.
func (k *kubelet) next(ctx context.Context, beside *podsOfNode, pod *corev1.Pod, node *corev1.Node, now time.Time) (Next, error) {
	deletedAt := k.learntOfDeletion(pod, now)
	if pod.Status.StartTime != nil || pod.DeletionTimestamp != nil {
		return Step(pod, node, nil, now, deletedAt), nil
	}
	beside.admission.Lock()
	defer beside.admission.Unlock()
	next := Step(pod, described(node), beside.others(pod), now, deletedAt)
	if next.Rejected {
		// The scheduler may have observed the node's growth before this watch.
		node, err := k.client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
		if err != nil {
			return Next{}, err
		}
		next = Step(pod, described(node), beside.others(pod), now, deletedAt)
	}
	if !next.Rejected {
		beside.admitted[pod.UID] = true
	}
	return next, nil
}

// learntOfDeletion is when the kubelet first observed the pod's deletion; zero without one.
func (k *kubelet) learntOfDeletion(pod *corev1.Pod, now time.Time) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	at, _ := k.deletions.LoadOrStore(pod.UID, now)
	return at.(time.Time)
}
