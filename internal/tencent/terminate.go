package tencent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// NotTerminatedError lists the instances that were not terminated, and why.
type NotTerminatedError struct {
	Reasons map[string]string // by instance id
}

// NotEnded lists the instances whose termination was certainly refused.
func (e *NotTerminatedError) NotEnded() []string {
	return slices.Sorted(maps.Keys(e.Reasons))
}

// Error names each instance with its reason.
func (e *NotTerminatedError) Error() string {
	list := make([]string, 0, len(e.Reasons))
	for _, id := range slices.Sorted(maps.Keys(e.Reasons)) {
		list = append(list, fmt.Sprintf("%s (%s)", id, e.Reasons[id]))
	}
	return "not terminated: " + strings.Join(list, ", ")
}

const (
	reasonProtected = "protected from termination in Tencent Cloud: disable its termination protection first"
	reasonForeign   = "belongs to another pool by now"
	reasonRegion    = "is of another region"
)

// Terminate terminates instances of a region. It returns the IDs that are terminated, being
// terminated, or gone. It never changes any other instance.
//
// Calls are made by charge type, as Tencent Cloud requires, for at most 100 instances each. If
// one instance causes a refusal of the whole call, all are described again, and the call is
// repeated for those that can be terminated. Pending and protected ones cannot; a
// *NotTerminatedError in the error's chain names them.
func (c *Client) Terminate(ctx context.Context, region string, instances []spotpool.Instance) (ended []string, err error) {
	if err := c.checkAccount(ctx, "TerminateInstances"); err != nil {
		return nil, err
	}
	t := &termination{client: c, region: region, left: map[string]string{}, asked: map[string]spotpool.Instance{}}
	for _, i := range instances {
		t.asked[i.ID] = i
	}
	groups := t.sort(sorted(slices.Clone(instances)))
	for _, charge := range slices.Sorted(maps.Keys(groups)) {
		for chunk := range slices.Chunk(groups[charge], pageSize) {
			t.end(ctx, chunk)
		}
	}
	if len(t.left) > 0 {
		t.problems = append(t.problems, &NotTerminatedError{t.left})
	}
	slices.Sort(t.ended)
	return t.ended, errors.Join(t.problems...)
}

type termination struct {
	client   *Client
	region   string
	asked    map[string]spotpool.Instance
	ended    []string
	left     map[string]string
	problems []error
	stopped  bool // nothing further can succeed
	// alone counts instances that were refused in a call of their own, for a reason
	// that may hold for all.
	alone int
}

// aloneAtMost is how many such refusals, such as for a missing permission, are taken
// to hold for all instances.
const aloneAtMost = 3

// sort sets aside what has ended or can't be ended, and groups the rest by charge
// type.
func (t *termination) sort(instances []spotpool.Instance) map[spotpool.ChargeType][]string {
	groups := map[spotpool.ChargeType][]string{}
	for _, i := range instances {
		switch {
		case i.Region != t.region:
			t.left[i.ID] = reasonRegion
		case i.PoolUID != t.asked[i.ID].PoolUID:
			t.left[i.ID] = reasonForeign
		case i.State.Ending():
			// A failed launch can't be terminated and goes away by itself.
			t.ended = append(t.ended, i.ID)
		case i.APIProtected:
			t.left[i.ID] = reasonProtected
		case i.State == spotpool.StatePending:
			t.left[i.ID] = "is still PENDING and cannot be terminated: try again once it is running"
		default:
			groups[i.ChargeType] = append(groups[i.ChargeType], i.ID)
		}
	}
	return groups
}

// end terminates ids of one charge type. Each refusal that blames an instance either
// removes some ids or halves the rest, so this ends.
func (t *termination) end(ctx context.Context, ids []string) {
	if t.stopped || len(ids) == 0 {
		return
	}
	request, response := cvm.NewTerminateInstancesRequest(), cvm.NewTerminateInstancesResponse()
	request.InstanceIds = pointers(ids)
	// ReleaseAddress stays off: the address of a launch is released with its instance, and an
	// elastic one that was bound later is foreign.
	_, err := t.client.api.call(ctx, t.client.keys, t.region, request, response)
	switch {
	case err == nil:
		t.ended = append(t.ended, ids...)
	case blamesInstance(err):
		t.endRest(ctx, ids, err)
	case definite(err) && ctx.Err() == nil:
		// A policy may forbid one of them, or a lock may protect it: the code does not show
		// which.
		t.halve(ctx, ids, err)
		if len(ids) == 1 {
			t.alone++
			t.stopped = len(t.ended) == 0 && t.alone >= aloneAtMost
		}
	default:
		t.problems = append(t.problems, fmt.Errorf("terminating %s: %w", strings.Join(ids, ", "), err))
		t.stopped = t.stopped || ctx.Err() != nil
	}
}

// definite reports whether the same call would be refused again: it had no effect,
// and to repeat it is of no use.
func definite(err error) bool {
	cloud, ok := spotpool.AsCloudError(err)
	return ok && cloud.NothingLaunched && cloud.Class != errorclass.Transient
}

// endRest describes instances again after a call for them was refused as a whole.
func (t *termination) endRest(ctx context.Context, ids []string, refusal error) {
	now, _, err := t.client.ObserveInstances(ctx, t.region, ids)
	if err != nil {
		t.problems, t.stopped = append(t.problems, err), ctx.Err() != nil
		return
	}
	t.ended = append(t.ended, missing(ids, now)...) // vanished
	groups := t.sort(now)
	if len(groups) == 1 {
		for _, rest := range groups {
			if len(rest) == len(ids) {
				t.halve(ctx, rest, refusal)
				return
			}
		}
	}
	for _, charge := range slices.Sorted(maps.Keys(groups)) {
		t.end(ctx, groups[charge])
	}
}

// halve finds the refused instances among ids, if all look terminable.
func (t *termination) halve(ctx context.Context, ids []string, refusal error) {
	if len(ids) > 1 {
		t.end(ctx, ids[:len(ids)/2])
		t.end(ctx, ids[len(ids)/2:])
		return
	}
	cloud, _ := spotpool.AsCloudError(refusal)
	t.left[ids[0]] = fmt.Sprintf("%s: %s", cloud.Code, cloud.Message)
	t.problems = append(t.problems, refusal)
}

// blamesInstance reports whether a refusal is about one of the instances, so that the others
// can still be terminated.
func blamesInstance(err error) bool {
	cloud, ok := spotpool.AsCloudError(err)
	if !ok {
		return false
	}
	for _, prefix := range []string{
		"InvalidInstanceId.NotFound", "InvalidInstanceId.Malformed", "InvalidInstance.NotSupported", "InvalidInstanceState", "InvalidInstanceNotSupported",
		"InvalidParameterValue.InstanceIdMalformed",
		"UnsupportedOperation.InstanceState", "UnsupportedOperation.InstancesProtected",
		"UnsupportedOperation.InstanceMixedPricingModel", "UnsupportedOperation.InstanceChargeType", "UnsupportedOperation.RedHat",
		"UnsupportedOperation.SpecialInstanceType", "UnsupportedOperation.InvalidInstancesOwner",
		"FailedOperation.Unreturnable", "OperationDenied.InstanceOperationInProgress",
	} {
		if strings.HasPrefix(cloud.Code, prefix) {
			return true
		}
	}
	return false
}
