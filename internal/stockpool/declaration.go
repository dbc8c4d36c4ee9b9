package stockpool

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Declaration is the desired state of one stock pool. Its JSON keys are the names of the
// resource's arguments.
type Declaration struct {
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"`
	ClusterUID string `json:"cluster_uid"` // of the namespace kube-system
	// DeploymentUID is the UID of the Deployment that the pool took over when it was recorded;
	// empty if it created its own. The journal has later ones.
	DeploymentUID string `json:"deployment_uid,omitempty"`

	SpecName string `json:"spec_name"` // the flavor
	Image    string `json:"image"`
	Memory   string `json:"memory"` // a quantity; request and limit
	GPU      int    `json:"gpu"`
	Replicas int    `json:"replicas"`
	// ReplicasPolicy says what Replicas counts. Maximum is the most pods with
	// ReplicasAvailable.
	ReplicasPolicy ReplicasPolicy `json:"replicas_policy,omitempty"`
	Maximum        int            `json:"maximum,omitempty"`

	CPU     string            `json:"cpu,omitempty"` // a quantity; only a request
	Command []string          `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// EnvWO are write-only variables, which Terraform keeps in no state and no plan. A new
	// EnvWOVersion marks a change of them; 0 means none.
	EnvWO               map[string]string    `json:"env_wo,omitempty"`
	EnvWOVersion        int64                `json:"env_wo_version,omitempty"`
	Ports               []Port               `json:"ports,omitempty"`
	Labels              map[string]string    `json:"labels,omitempty"` // of the pods
	NodeSelector        map[string]string    `json:"node_selector,omitempty"`
	Tolerations         []Toleration         `json:"tolerations,omitempty"`
	GPUResource         string               `json:"gpu_resource,omitempty"`
	RuntimeClassName    string               `json:"runtime_class_name,omitempty"`
	ImagePullSecrets    []string             `json:"image_pull_secrets,omitempty"`
	ServiceAccountName  string               `json:"service_account_name,omitempty"`
	PodSecurityLevel    PodSecurityLevel     `json:"pod_security_level,omitempty"`
	PodDisruptionBudget *PodDisruptionBudget `json:"pod_disruption_budget,omitempty"`
	// AllocatedSelector selects the pods in use, in the syntax of kubectl --selector.
	AllocatedSelector string    `json:"allocated_selector,omitempty"`
	Budget            string    `json:"budget,omitempty"`
	OnDestroy         OnDestroy `json:"on_destroy,omitempty"`

	// ManagedBy is ManagedByAPI if a job created the pool, for its Owner; empty if Terraform
	// manages it. A run deletes a pool of the API after ExpiresAt.
	ManagedBy string    `json:"managed_by,omitempty"`
	Owner     string    `json:"owner,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// ManagedByAPI marks a pool that a job created.
const ManagedByAPI = "api"

// Requested reports whether a job created the pool, and Terraform does not manage it.
func (d Declaration) Requested() bool { return d.ManagedBy == ManagedByAPI }

// Expired reports whether a run is to delete a requested pool.
func (d Declaration) Expired(now time.Time) bool {
	return d.Requested() && !d.ExpiresAt.IsZero() && !now.Before(d.ExpiresAt)
}

// ReplicasPolicy says which pods the replicas of a pool count.
type ReplicasPolicy string

// Replicas policies.
const (
	ReplicasTotal     ReplicasPolicy = "total"
	ReplicasAvailable ReplicasPolicy = "available" // pods that are not in use
)

// PodSecurityLevel is a level of the Pod Security Standards.
type PodSecurityLevel string

// Pod security levels.
const (
	Restricted PodSecurityLevel = "restricted"
	Baseline   PodSecurityLevel = "baseline"
)

// OnDestroy says what happens to the Deployment of a destroyed pool.
type OnDestroy string

// The actions of a destroy on the Deployment.
const (
	DestroyDelete OnDestroy = "delete"
	DestroyRetain OnDestroy = "retain"
)

// Port is a port that the container listens on.
type Port struct {
	// The number of the port.
	Port int `json:"port"`
	// The name of the port.
	Name string `json:"name,omitempty"`
	// The protocol. Default: `TCP`.
	Protocol string `json:"protocol,omitempty"`
}

// Toleration lets pods onto nodes with a taint.
type Toleration struct {
	// The key of the taint. If omitted, every taint.
	Key string `json:"key,omitempty"`
	// `Equal` or `Exists`. Default: `Equal`.
	Operator string `json:"operator,omitempty"`
	// The value of the taint.
	Value string `json:"value,omitempty"`
	// The effect of the taint. If omitted, every effect.
	Effect string `json:"effect,omitempty"`
}

// PodDisruptionBudget limits evictions of the pool's pods.
type PodDisruptionBudget struct {
	MinAvailable int `json:"min_available"`
}

// DefaultGPUResource is the resource name of GPUs if none is declared.
const DefaultGPUResource = "nvidia.com/gpu"

// WithDefaults sets the defaults of omitted arguments.
func (d Declaration) WithDefaults() Declaration {
	d.ReplicasPolicy = cmp.Or(d.ReplicasPolicy, ReplicasTotal)
	d.GPUResource = cmp.Or(d.GPUResource, DefaultGPUResource)
	d.PodSecurityLevel = cmp.Or(d.PodSecurityLevel, Restricted)
	d.OnDestroy = cmp.Or(d.OnDestroy, DestroyDelete)
	d.Ports = slices.Clone(d.Ports)
	for n, p := range d.Ports {
		d.Ports[n] = p.WithDefaults()
	}
	d.Tolerations = slices.Clone(d.Tolerations)
	for n, t := range d.Tolerations {
		d.Tolerations[n] = t.WithDefaults()
	}
	return d
}

// WithDefaults sets the defaults of a port.
func (p Port) WithDefaults() Port {
	p.Protocol = cmp.Or(p.Protocol, "TCP")
	return p
}

// WithDefaults sets the defaults of a toleration.
func (t Toleration) WithDefaults() Toleration {
	t.Operator = cmp.Or(t.Operator, "Equal")
	return t
}

// Key identifies a stock pool within one store: "default/pool-g1".
func (d Declaration) Key() string { return d.Namespace + "/" + d.Name }

// Object identifies a stock pool in decisions, logs and reports.
func (d Declaration) Object() string { return "stock_pool/" + d.Key() }

// Identity distinguishes the pool from others of its name, and its declaration from earlier
// ones.
func (d Declaration) Identity() (uid string, generation int64) { return d.UID, d.Generation }

// WithIdentity returns the declaration with another identity.
func (d Declaration) WithIdentity(uid string, generation int64) Declaration {
	d.UID, d.Generation = uid, generation
	return d
}

// The labels of a pool's pods, its Deployment and its PodDisruptionBudget. They are for people
// and for listing: ownership follows from UIDs.
const (
	LabelPool = "gpupool/stock-pool" // the pool's name
	labelSpec = "gpupool/spec-name"
	// labelManagedBy is the recommended Kubernetes label for the manager of an object.
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "gpupool"
)

// AnnotationOpened contains the token of the creation of a Deployment.
const AnnotationOpened = "gpupool/opened-by"

// PodLabels returns the labels of the pool's pods, by which budgets select them.
func (d Declaration) PodLabels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, d.Labels)
	labels[LabelPool], labels[labelSpec] = d.Name, d.SpecName
	return labels
}

// DesiredReplicas returns how many pods a pool needs if so many are in use, without limits of budgets.
func (d Declaration) DesiredReplicas(used int) int {
	if d.ReplicasPolicy == ReplicasAvailable {
		return min(d.Maximum, d.Replicas+used)
	}
	return d.Replicas
}
