package budget

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Workload names the owner of pods, in a namespace.
type Workload struct {
	// The workload's namespace.
	Namespace string `json:"namespace"`
	ledger.Owner
}

// IsCronJob reports whether the workload is a CronJob, which has Jobs instead of pods.
func (w Workload) IsCronJob() bool { return w.APIVersion == "batch/v1" && w.Kind == "CronJob" }

// CompareForResumption orders workloads as they are resumed: older ones first, CronJobs last. Which Jobs of a CronJob
// are resumed depends on it and on newer ones. Of workloads created in the same second, the UIDs decide.
func CompareForResumption(a, b Workload, aCreatedAt, bCreatedAt time.Time) int {
	if a.IsCronJob() != b.IsCronJob() {
		return map[bool]int{true: 1, false: -1}[a.IsCronJob()]
	}
	return cmp.Or(aCreatedAt.Compare(bCreatedAt), strings.Compare(a.UID, b.UID))
}

// Ownership is the verified workload of a pod, whatever the pod
// claims.
type Ownership struct {
	// Workload is what would be paused for the pod: it selects the pod, and asks for
	// GPUs itself. Zero where there is none.
	Workload Workload
	// Reason says why there is none.
	Reason reason.Reason
	// StockPool names the stock pool of the workload, or is empty. A stock pool respects budgets by itself,
	// and its Deployment is not paused.
	StockPool string
	// Labels are those of the workload's own template of pods.
	Labels map[string]string
	// Stopped says that the workload is suspended, or has no replicas.
	Stopped bool
	// Obstacle is why the workload must not be paused, such as a controller that would undo it; or zero.
	Obstacle reason.Reason
	// ToleratesDisruption says that a pod's end by a disruption is not a failure of its workload.
	ToleratesDisruption bool
	// FailuresLeft is how many pods of a Job can still fail, of which each eviction is one unless it tolerates
	// disruption. The next failure fails the Job for good.
	FailuresLeft int
	// CronJob is the verified CronJob of a Job; nil if there is none.
	CronJob *Ownership
}

// Pod is a pod that holds GPUs now, or waits for some, as one budget sees it.
type Pod struct {
	gpu.Pod

	Set *ledger.LabelSet // its labels of now
	// Charged is what the ledger counts it by, frozen when it was first seen; nil
	// where the ledger has not seen it. A label edit moves neither usage nor blame.
	Charged *ledger.LabelSet
	// Of is what the cluster knows of what the pod names as its controller; zero if
	// it was not looked up.
	Of        Ownership
	MilliGPUs int64 // as the budget counts them
	Spot      bool  // it holds them on a spot instance, or on one of a pool
}

// Controller is the controller that the pod names, which is not verified; zero
// if it names none.
func (p *Pod) Controller() Workload {
	if p.Owner == nil {
		return Workload{}
	}
	return Workload{Namespace: p.Namespace, Owner: *p.Owner}
}

// podForm is the JSON of a pod.
type podForm struct {
	// The pod's UID.
	UID string `json:"uid"`
	// The pod's namespace.
	Namespace string `json:"namespace"`
	// The pod's name.
	Name string `json:"name"`
}

// MarshalJSON writes which pod it is, and nothing else of it.
func (p Pod) MarshalJSON() ([]byte, error) {
	return json.Marshal(podForm{p.UID, p.Namespace, p.Name})
}

// String names the pod: "ml/train-0".
func (p Pod) String() string { return p.Namespace + "/" + p.Name }
