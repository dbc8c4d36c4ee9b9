package stockpool

import (
	"cmp"
	"maps"
	"slices"
)

// Declaration is the desired state of one stock pool. Its JSON has the names of the
// resource's arguments.
type Declaration struct {
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation"`
	ClusterUID string `json:"cluster_uid"` // of the namespace kube-system
	// DeploymentUID is that of the Deployment which the pool took over when it was
	// recorded; empty where it made its own. The journal knows of later ones.
	DeploymentUID string `json:"deployment_uid,omitempty"`

	SpecName string `json:"spec_name"` // the flavour
	Image    string `json:"image"`
	Memory   string `json:"memory"` // a quantity, requested and the limit
	GPU      int    `json:"gpu"`
	Replicas int    `json:"replicas"`
	// ReplicasPolicy says what Replicas counts, and Maximum how many pods there may be at most
	// where that is the available ones.
	ReplicasPolicy ReplicasPolicy `json:"replicas_policy,omitempty"`
	Maximum        int            `json:"maximum,omitempty"`

	CPU     string            `json:"cpu,omitempty"` // a quantity, requested alone
	Command []string          `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// EnvWO are variables beside Env that Terraform keeps in no state and no plan, and their
	// version what says that they changed; zero without any.
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
	// AllocatedSelector selects those of the pods that are in use, as kubectl's
	// --selector does.
	AllocatedSelector string    `json:"allocated_selector,omitempty"`
	Budget            string    `json:"budget,omitempty"`
	OnDestroy         OnDestroy `json:"on_destroy,omitempty"`
}

// ReplicasPolicy is what the replicas of a pool count.
type ReplicasPolicy string

// What the replicas count.
const (
	ReplicasTotal     ReplicasPolicy = "total"
	ReplicasAvailable ReplicasPolicy = "available" // pods that are not in use
)

// PodSecurityLevel is a level of the Pod Security Standards.
type PodSecurityLevel string

// The levels.
const (
	Restricted PodSecurityLevel = "restricted"
	Baseline   PodSecurityLevel = "baseline"
)

// OnDestroy says what becomes of the Deployment of a pool that is destroyed.
type OnDestroy string

// What may become of it.
const (
	DestroyDelete OnDestroy = "delete"
	DestroyRetain OnDestroy = "retain"
)

// Port is one that the container listens on.
type Port struct {
	Port     int    `json:"port"`
	Name     string `json:"name,omitempty"`
	Protocol string `json:"protocol,omitempty"` // TCP where empty
}

// Toleration lets pods onto nodes with a taint.
type Toleration struct {
	Key      string `json:"key,omitempty"` // every taint where empty
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"` // every effect where empty
}

// PodDisruptionBudget says how many pods evictions leave available.
type PodDisruptionBudget struct {
	MinAvailable int `json:"min_available"`
}

// DefaultGPUResource is the resource that GPUs are asked for by.
const DefaultGPUResource = "nvidia.com/gpu"

// WithDefaults fills in what a user may leave out.
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

// WithDefaults fills in what a user may leave out of a port.
func (p Port) WithDefaults() Port {
	p.Protocol = cmp.Or(p.Protocol, "TCP")
	return p
}

// WithDefaults fills in what a user may leave out of a toleration.
func (t Toleration) WithDefaults() Toleration {
	t.Operator = cmp.Or(t.Operator, "Equal")
	return t
}

// Key names a stock pool within one store: "default/pool-g1".
func (d Declaration) Key() string { return d.Namespace + "/" + d.Name }

// Object names a stock pool in decisions, logs and reports.
func (d Declaration) Object() string { return "stock_pool/" + d.Key() }

// Identity distinguishes the pool from others of its name, and its declaration from earlier
// ones.
func (d Declaration) Identity() (uid string, generation int64) { return d.UID, d.Generation }

// Identified is the declaration under an identity.
func (d Declaration) Identified(uid string, generation int64) Declaration {
	d.UID, d.Generation = uid, generation
	return d
}

// The labels of a pool's pods, its Deployment and its PodDisruptionBudget. They are for
// people and for listing: whose a Deployment is follows from its UID.
const (
	LabelPool = "gpupool/stock-pool" // the pool's name
	labelSpec = "gpupool/spec-name"
	// labelManagedBy and managedBy are Kubernetes' own way to say whose an object is.
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "gpupool"
)

// AnnotationOpened holds the token under which a Deployment was created.
const AnnotationOpened = "gpupool/opened-by"

// PodLabels are the labels of the pool's pods, by which budgets select them.
func (d Declaration) PodLabels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, d.Labels)
	labels[LabelPool], labels[labelSpec] = d.Name, d.SpecName
	return labels
}

// Wanted is how many pods a pool is to have of which so many are in use, if no budget
// holds it.
func (d Declaration) Wanted(used int) int {
	if d.ReplicasPolicy == ReplicasAvailable {
		return min(d.Maximum, d.Replicas+used)
	}
	return d.Replicas
}
