package api

import (
	"context"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// These operations have the paths and fields of the stock pool operator that gpupool replaces, so
// that its clients work unchanged.

// OperatorStockPoolRequest requests a stock pool.
type OperatorStockPoolRequest struct {
	// The name. If omitted, one is derived from specName.
	Name string `json:"name,omitempty"`
	// The namespace. Default: `default`.
	Namespace string `json:"namespace,omitempty"`
	// The flavor, such as `g1.1`.
	SpecName string `json:"specName"`
	// The image. Default: a placeholder that only waits.
	Image string `json:"image,omitempty"`
	// The memory of each pod, such as `16Gi`.
	Memory string `json:"memory,omitempty"`
	// The GPUs of each pod.
	GPU int32 `json:"gpu,omitempty"`
	// The number of pods.
	Replicas int32 `json:"replicas"`
}

// OperatorStockPool is a stock pool, as observed now.
type OperatorStockPool struct {
	OperatorStockPoolRequest
	// Pods that are ready and not in use. Null if the stock pool could not be observed.
	Available *int `json:"available"`
	// The desired number of pods less the available ones. Null if the stock pool could not be observed.
	Allocated *int `json:"allocated"`
	// The phase, or `Unknown` if the stock pool could not be observed.
	Phase string `json:"phase"`
	// The generation that was last applied. Null if the stock pool could not be observed.
	ObservedGeneration *int64 `json:"observedGeneration"`
	// When the Deployment was last in sync.
	LastSyncTime *time.Time `json:"lastSyncTime,omitempty"`
}

// OperatorStockPools is a list of stock pools.
type OperatorStockPools struct {
	// The stock pools.
	Items []OperatorStockPool `json:"items"`
}

// OperatorJob is a job.
type OperatorJob struct {
	// The ID.
	ID string `json:"id"`
	// The type of its request.
	Type request.Type `json:"type"`
	// `queued`, `running`, `succeeded`, `failed`, `expired` or `canceled`.
	Status request.State `json:"status"`
	// Why it failed.
	Error string `json:"error,omitempty"`
	// When it was submitted.
	CreatedAt time.Time `json:"createdAt"`
	// When its status last changed.
	UpdatedAt time.Time `json:"updatedAt"`
}

func newOperatorJob(j request.Job) OperatorJob {
	job := OperatorJob{ID: j.ID, Type: j.Type, Status: j.State, CreatedAt: j.RequestedAt, UpdatedAt: j.UpdatedAt}
	if j.Error != nil {
		job.Error = j.Error.Message
	}
	return job
}

type acceptedByOperator struct {
	Location string `header:"Location" doc:"The path of the job."`
	Body     OperatorJob
}

func (a *api) addReplaced() {
	get(a, "/operator/stockpools", "listOperatorStockPools", "Stock pools, as the replaced operator lists them", a.operatorStockPools)
	get(a, "/operator/jobs/{id}", "getOperatorJob", "One job, as the replaced operator reports it", func(ctx context.Context, in *jobID) (OperatorJob, error) {
		job, err := a.job(ctx, in.ID)
		return newOperatorJob(job), err
	})
	post(a, "/operator/stockpools", "requestOperatorStockPool", "Request a stock pool, as of the replaced operator", func(ctx context.Context, in *struct {
		Keyed
		Body OperatorStockPoolRequest
	}) (*acceptedByOperator, error) {
		b := in.Body
		job, err := a.submit(ctx, request.Request{StockPool: &request.StockPool{
			Name: b.Name, Namespace: b.Namespace, SpecName: b.SpecName, Image: b.Image, Memory: b.Memory, GPU: int(b.GPU), Replicas: int(b.Replicas),
		}}, in.Key)
		if err != nil {
			return nil, err
		}
		return &acceptedByOperator{Location: Path + "/operator/jobs/" + job.Body.ID, Body: newOperatorJob(job.Body)}, nil
	})
}

func (a *api) operatorStockPools(ctx context.Context, _ *nothing) (OperatorStockPools, error) {
	list := OperatorStockPools{Items: []OperatorStockPool{}}
	all, err := a.stockPools(ctx, nil)
	if err != nil {
		return list, err
	}
	pools := all.value.StockPools
	observed := func(p stockpools.Description) bool { return p.Status != nil }
	if len(pools) > 0 && !slices.ContainsFunc(pools, observed) { // a client of the operator reads no pods as 0
		detail := "no stock pool could be observed"
		if e := pools[0].Error; e != nil {
			detail += ": " + e.Message
		}
		return list, huma.Error503ServiceUnavailable(detail)
	}
	for _, p := range pools {
		item := OperatorStockPool{
			OperatorStockPoolRequest: OperatorStockPoolRequest{
				Name: p.Name, Namespace: p.Namespace, SpecName: p.SpecName, Image: p.Arguments.Image, Memory: p.Arguments.Memory,
				GPU: int32(p.Arguments.GPU), Replicas: int32(p.Arguments.Replicas), //nolint:gosec // both are limited
			},
			Phase: "Unknown",
		}
		if s := p.Status; s != nil {
			item.Available, item.Allocated, item.Phase = &s.Available, new(max(0, s.Desired-s.Available)), string(s.Phase)
			item.ObservedGeneration = &s.ObservedGeneration
			if !s.SyncedAt.IsZero() {
				item.LastSyncTime = &s.SyncedAt
			}
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}
