package control

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Instance is an instance as the control surface shows it, with its tags before the tag delay.
type Instance struct {
	InstanceID       string            `json:"instance_id"`
	Pool             string            `json:"pool,omitempty"`
	State            string            `json:"state"`
	Region           string            `json:"region"`
	AvailabilityZone string            `json:"availability_zone"`
	InstanceType     string            `json:"instance_type"`
	ChargeType       string            `json:"charge_type"`
	Seq              string            `json:"seq,omitempty"`
	UID              string            `json:"uid,omitempty"`
	Config           string            `json:"config,omitempty"`
	Tags             map[string]string `json:"tags"`
	Name             string            `json:"name"`
	RestrictState    string            `json:"restrict_state"`
	Protected        bool              `json:"protected"`
	MaxPrice         string            `json:"spot_max_price,omitempty"`
	CreatedAt        time.Time         `json:"created_at"`
	ListedAt         *time.Time        `json:"listed_at,omitempty"` // until it appears in listings
	PrivateIP        string            `json:"private_ip"`
	PublicIP         string            `json:"public_ip,omitempty"`
	VpcID            string            `json:"vpc_id"`
	SubnetID         string            `json:"subnet_id"`
	ImageID          string            `json:"image_id"`
	ReclaimAt        *time.Time        `json:"reclaim_at,omitempty"`
	ExpiresAt        *time.Time        `json:"expires_at,omitempty"` // of a prepaid one
}

// Instances lists every existing instance in the order of launches.
func (p *Panel) Instances() []Instance {
	out := []Instance{}
	p.store.Read(func(w *world.World) {
		for _, in := range w.Instances.Ordered() {
			out = append(out, describeForControl(in))
		}
	})
	return out
}

func describeForControl(in *world.Instance) Instance {
	out := Instance{
		InstanceID: in.ID, State: in.State, Region: in.Region, AvailabilityZone: in.Zone, InstanceType: in.Type,
		ChargeType: in.ChargeType, Name: in.Name, RestrictState: in.RestrictState, Protected: in.Protected,
		MaxPrice: in.MaxPrice, CreatedAt: in.CreatedAt, PrivateIP: in.PrivateIP, PublicIP: in.PublicIP,
		VpcID: in.VPCID, SubnetID: in.SubnetID, ImageID: in.ImageID, Tags: map[string]string{},
	}
	for _, t := range in.FinalTags() {
		out.Tags[t.Key] = t.Value
	}
	out.Pool, out.UID, out.Seq, out.Config = out.Tags[world.PoolTag], out.Tags[world.UIDTag], out.Tags[world.SeqTag], out.Tags[world.ConfigTag]
	out.ListedAt, out.ReclaimAt, out.ExpiresAt = futureTime(in.ListedAt), futureTime(in.ReclaimAt), futureTime(in.ExpiresAt)
	return out
}

// futureTime returns a future time, or nil if there is none.
func futureTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// SeedRequest creates instances without a launch: it checks no stock, quota or price, and they run
// at once.
type SeedRequest struct {
	// Pool, UID, Seq and Config become the tags gpupool/….
	Pool             string            `json:"pool,omitempty"`
	UID              string            `json:"uid,omitempty"`
	Seq              string            `json:"seq,omitempty"`
	Config           string            `json:"config,omitempty"`
	Tags             map[string]string `json:"tags,omitempty"`
	Count            int               `json:"count,omitempty"`         // 0 means 1
	AvailabilityZone string            `json:"availability_zone"`       // decides the region
	InstanceType     string            `json:"instance_type"`           //
	ChargeType       string            `json:"charge_type,omitempty"`   // SPOTPAID
	State            string            `json:"state,omitempty"`         // RUNNING
	Name             string            `json:"name,omitempty"`          //
	VpcID            string            `json:"vpc_id,omitempty"`        // vpc-seeded00
	SubnetID         string            `json:"subnet_id,omitempty"`     // subnet-seeded00
	ImageID          string            `json:"image_id,omitempty"`      // img-seeded00
	Protected        bool              `json:"protected,omitempty"`     //
	CamRoleName      string            `json:"cam_role_name,omitempty"` //
	Age              world.Duration    `json:"age,omitempty"`           // time since their creation
}

// Seed creates instances and returns their IDs.
func (p *Panel) Seed(r SeedRequest) ([]string, error) {
	r.Count = cmp.Or(r.Count, 1)
	r.ChargeType = cmp.Or(r.ChargeType, world.ChargeSpot)
	r.State = cmp.Or(r.State, world.StateRunning)
	r.VpcID = cmp.Or(r.VpcID, "vpc-seeded00")
	r.SubnetID = cmp.Or(r.SubnetID, "subnet-seeded00")
	r.ImageID = cmp.Or(r.ImageID, "img-seeded00")
	if err := checkSeed(r); err != nil {
		return nil, err
	}
	ids := make([]string, r.Count)
	err := p.store.Change(func(w *world.World) error {
		now := w.Now()
		w.Advance(now)
		seeded := seedLaunch(r)
		for i := range ids {
			in := w.NewInstance(seeded, i, now)
			for _, late := range in.Late {
				in.Tags = world.WithTag(in.Tags, late.Tag, false)
			}
			in.Late = nil
			in.CreatedAt = in.CreatedAt.Add(-time.Duration(r.Age))
			in.State, in.Operation, in.OperationState, in.OperationRequestID = r.State, "RunInstances", "SUCCESS", wire.NewUUID()
			w.Add(in)
			ids[i] = in.ID
		}
		return nil
	})
	return ids, err
}

func checkSeed(r SeedRequest) error {
	if r.Count < 1 || r.Count > 1_000_000 {
		return fieldError("count", "must be from 1 to 1000000, not %d", r.Count)
	}
	if _, err := readSKU(r.AvailabilityZone, r.InstanceType, r.ChargeType); err != nil {
		return err
	}
	if !slices.Contains(world.States, r.State) {
		return fieldError("state", "%q is not a state", r.State)
	}
	if err := notNegative("age", r.Age); err != nil {
		return err
	}
	switch {
	case !wire.VpcID.Fits(r.VpcID):
		return fieldError("vpc_id", "%q is malformed", r.VpcID)
	case !wire.SubnetID.Fits(r.SubnetID):
		return fieldError("subnet_id", "%q is malformed", r.SubnetID)
	case !wire.ImageID.Fits(r.ImageID):
		return fieldError("image_id", "%q is malformed", r.ImageID)
	}
	if failure := api.CheckLaunchTags(seedTags(r)); failure != nil {
		return fieldError("tags", "%s", failure.Message)
	}
	return nil
}

func seedTags(r SeedRequest) []world.Tag {
	var tags []world.Tag
	for key, value := range map[string]string{world.PoolTag: r.Pool, world.UIDTag: r.UID, world.SeqTag: r.Seq, world.ConfigTag: r.Config} {
		if value != "" {
			tags = append(tags, world.Tag{Key: key, Value: value})
		}
	}
	for key, value := range r.Tags {
		tags = append(tags, world.Tag{Key: key, Value: value})
	}
	return tags
}

func seedLaunch(r SeedRequest) world.Launch {
	zoneID, typeID := r.AvailabilityZone, r.InstanceType
	return world.Launch{
		SKU: world.SKU{Zone: zoneID, Type: typeID, Charge: r.ChargeType}, Count: int64(r.Count), Tags: seedTags(r),
		Instance: world.Instance{
			Region: world.RegionOfZone[zoneID].ID, Zone: zoneID, Type: typeID, ChargeType: r.ChargeType, ImageID: r.ImageID,
			VPCID: r.VpcID, SubnetID: r.SubnetID, Name: r.Name, Protected: r.Protected, CamRoleName: r.CamRoleName,
			SystemDisk: world.Disk{Type: "CLOUD_PREMIUM", Size: 50, DeleteWithInstance: true},
		},
	}
}

// StateRequest changes the visible state of instances.
type StateRequest struct {
	InstanceIDs   []string `json:"instance_ids"`
	State         string   `json:"state,omitempty"`          // of the API: STOPPED, REBOOTING, …
	RestrictState string   `json:"restrict_state,omitempty"` // NORMAL, EXPIRED, PROTECTIVELY_ISOLATED
	Protected     *bool    `json:"protected,omitempty"`
	// ChargeType converts them, as ModifyInstancesChargeType does; PREPAID is paid for a month from
	// now. Unlike Tencent Cloud, this also converts spot instances.
	ChargeType string `json:"charge_type,omitempty"`
}

// SetState changes the state of instances and cancels their pending operations, such as a launch. A
// GONE instance disappears.
func (p *Panel) SetState(r StateRequest) error {
	if r.State != "" && r.State != "GONE" && !slices.Contains(world.States, r.State) {
		return fieldError("state", "%q is not a state", r.State)
	}
	if !slices.Contains([]string{"", "NORMAL", "EXPIRED", "PROTECTIVELY_ISOLATED"}, r.RestrictState) {
		return fieldError("restrict_state", "must be NORMAL, EXPIRED or PROTECTIVELY_ISOLATED, not %q", r.RestrictState)
	}
	if r.ChargeType != "" {
		if err := checkCharge(r.ChargeType); err != nil {
			return err
		}
	}
	if len(r.InstanceIDs) == 0 {
		return fieldError("instance_ids", "is required")
	}
	return p.store.Change(func(w *world.World) error {
		now := w.Now()
		w.Advance(now)
		for _, id := range r.InstanceIDs {
			if w.Instances.Get(id) == nil {
				return fieldError("instance_ids", "there is no instance %q", id)
			}
		}
		for _, id := range r.InstanceIDs {
			if in := w.Instances.Get(id); in != nil {
				setState(w, in, r, now)
			}
		}
		return nil
	})
}

func setState(w *world.World, in *world.Instance, r StateRequest, now time.Time) {
	if r.State == "GONE" {
		w.Remove(in)
		return
	}
	if r.State != "" {
		in.State, in.SettleAt, in.GoneAt = r.State, time.Time{}, time.Time{}
	}
	if r.RestrictState != "" {
		in.RestrictState = r.RestrictState
	}
	if r.Protected != nil {
		in.Protected = *r.Protected
	}
	if r.ChargeType != "" {
		w.Convert(in, r.ChargeType, now)
	}
	w.Instances.Changed(in)
}
