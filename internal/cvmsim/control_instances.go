package cvmsim

import (
	"cmp"
	"slices"
	"time"
)

// Instance is an instance as the control surface shows it: tags as they are,
// not as late as clients see them.
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
	MaxPrice         string            `json:"max_price,omitempty"`
	CreatedAt        time.Time         `json:"created_at"`
	ListedAt         *time.Time        `json:"listed_at,omitempty"` // until it shows in listings
	PrivateIP        string            `json:"private_ip"`
	PublicIP         string            `json:"public_ip,omitempty"`
	VpcID            string            `json:"vpc_id"`
	SubnetID         string            `json:"subnet_id"`
	ImageID          string            `json:"image_id"`
	ReclaimAt        *time.Time        `json:"reclaim_at,omitempty"`
	ExpiresAt        *time.Time        `json:"expires_at,omitempty"` // of a prepaid one
}

// ordered lists all instances in the order of their launches.
func (w *world) ordered() []*instance {
	all := make([]*instance, 0, len(w.instances))
	for _, in := range w.instances {
		all = append(all, in)
	}
	slices.SortFunc(all, func(a, b *instance) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return all
}

// finalTag returns the value that a tag will have once late changes show.
func (in *instance) finalTag(key string) string {
	for _, t := range in.finalTags() {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// Instances lists every instance that isn't gone, in the order of launches.
func (p *Panel) Instances() []Instance {
	out := []Instance{}
	p.keeper.Look(func(w *world) {
		for _, in := range w.ordered() {
			out = append(out, describeForControl(in))
		}
	})
	return out
}

func describeForControl(in *instance) Instance {
	out := Instance{
		InstanceID: in.ID, State: in.State, Region: in.Region, AvailabilityZone: in.Zone, InstanceType: in.Type,
		ChargeType: in.ChargeType, Name: in.Name, RestrictState: in.RestrictState, Protected: in.Protected,
		MaxPrice: in.MaxPrice, CreatedAt: in.CreatedAt, PrivateIP: in.PrivateIP, PublicIP: in.PublicIP,
		VpcID: in.VPCID, SubnetID: in.SubnetID, ImageID: in.ImageID, Tags: map[string]string{},
	}
	for _, t := range in.finalTags() {
		out.Tags[t.Key] = t.Value
	}
	out.Pool, out.UID, out.Seq, out.Config = out.Tags[poolTag], out.Tags[uidTag], out.Tags[seqTag], out.Tags[configTag]
	out.ListedAt, out.ReclaimAt, out.ExpiresAt = toCome(in.ListedAt), toCome(in.ReclaimAt), toCome(in.ExpiresAt)
	return out
}

// toCome is a time as the control surface writes it, nil where nothing is to
// come.
func toCome(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// SeedRequest makes instances without a launch: no stock, quota or price is
// asked, and they run at once.
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
	Age              Duration          `json:"age,omitempty"`           // how long ago they were created
}

// Seed makes instances and returns their ids.
func (p *Panel) Seed(r SeedRequest) ([]string, error) {
	r.Count = cmp.Or(r.Count, 1)
	r.ChargeType = cmp.Or(r.ChargeType, chargeSpot)
	r.State = cmp.Or(r.State, stateRunning)
	r.VpcID = cmp.Or(r.VpcID, "vpc-seeded00")
	r.SubnetID = cmp.Or(r.SubnetID, "subnet-seeded00")
	r.ImageID = cmp.Or(r.ImageID, "img-seeded00")
	if err := checkSeed(r); err != nil {
		return nil, err
	}
	ids := make([]string, r.Count)
	err := p.keeper.Change(func(w *world) error {
		now := w.now()
		w.advance(now)
		seeded := seedLaunch(r)
		w.rememberTags(seeded.tags)
		for i := range ids {
			in := w.newInstance(seeded, i, now)
			for _, late := range in.Late {
				in.Tags = withTag(in.Tags, late.Tag, false)
			}
			in.Late = nil
			in.CreatedAt = in.CreatedAt.Add(-time.Duration(r.Age))
			in.State, in.Operation, in.OperationState, in.OperationRequestID = r.State, "RunInstances", "SUCCESS", newUUID()
			w.add(in)
			ids[i] = in.ID
		}
		return nil
	})
	return ids, err
}

func checkSeed(r SeedRequest) error {
	switch {
	case r.Count < 1 || r.Count > 1_000_000:
		return fieldError("count", "must be from 1 to 1000000, not %d", r.Count)
	case zones[r.AvailabilityZone] == nil:
		return fieldError("availability_zone", "%q is not a zone of the catalogue", r.AvailabilityZone)
	case instanceTypes[r.InstanceType] == nil:
		return fieldError("instance_type", "%q is not a type of the catalogue", r.InstanceType)
	case !slices.Contains(chargeTypes, r.ChargeType):
		return fieldError("charge_type", "must be SPOTPAID, POSTPAID_BY_HOUR or PREPAID, not %q", r.ChargeType)
	case !slices.Contains(states, r.State):
		return fieldError("state", "%q is not a state", r.State)
	case r.Age < 0:
		return fieldError("age", "must not be negative")
	case !vpcID.MatchString(r.VpcID):
		return fieldError("vpc_id", "%q is malformed", r.VpcID)
	case !subnetID.MatchString(r.SubnetID):
		return fieldError("subnet_id", "%q is malformed", r.SubnetID)
	case !imageID.MatchString(r.ImageID):
		return fieldError("image_id", "%q is malformed", r.ImageID)
	}
	if failure := checkLaunchTags(seedTags(r)); failure != nil {
		return fieldError("tags", "%s", failure.Message)
	}
	return nil
}

func seedTags(r SeedRequest) []Tag {
	var tags []Tag
	for key, value := range map[string]string{poolTag: r.Pool, uidTag: r.UID, seqTag: r.Seq, configTag: r.Config} {
		if value != "" {
			tags = append(tags, Tag{key, value})
		}
	}
	for key, value := range r.Tags {
		tags = append(tags, Tag{key, value})
	}
	return tags
}

func seedLaunch(r SeedRequest) launch {
	zoneID, typeID := r.AvailabilityZone, r.InstanceType
	return launch{
		sku: sku{zoneID, typeID, r.ChargeType}, count: int64(r.Count), tags: seedTags(r),
		template: instance{
			Region: zoneRegion[zoneID].ID, Zone: zoneID, Type: typeID, ChargeType: r.ChargeType, ImageID: r.ImageID,
			VPCID: r.VpcID, SubnetID: r.SubnetID, Name: r.Name, Protected: r.Protected, CamRoleName: r.CamRoleName,
			SystemDisk: disk{Type: "CLOUD_PREMIUM", Size: 50, DeleteWithInstance: true},
		},
	}
}

// StateRequest changes what instances look like, as if something had happened
// to them.
type StateRequest struct {
	InstanceIDs   []string `json:"instance_ids"`
	State         string   `json:"state,omitempty"`          // of the API: STOPPED, REBOOTING, …
	RestrictState string   `json:"restrict_state,omitempty"` // NORMAL, EXPIRED, PROTECTIVELY_ISOLATED
	Protected     *bool    `json:"protected,omitempty"`
	// ChargeType converts them, as ModifyInstancesChargeType does: to PREPAID,
	// they are paid for a month from now. The cloud doesn't convert spot
	// instances; this does.
	ChargeType string `json:"charge_type,omitempty"`
}

// SetState changes the state of instances. What was under way with them, a
// launch for one, is given up; a GONE instance vanishes.
func (p *Panel) SetState(r StateRequest) error {
	if r.State != "" && r.State != "GONE" && !slices.Contains(states, r.State) {
		return fieldError("state", "%q is not a state", r.State)
	}
	if !slices.Contains([]string{"", "NORMAL", "EXPIRED", "PROTECTIVELY_ISOLATED"}, r.RestrictState) {
		return fieldError("restrict_state", "must be NORMAL, EXPIRED or PROTECTIVELY_ISOLATED, not %q", r.RestrictState)
	}
	if r.ChargeType != "" && !slices.Contains(chargeTypes, r.ChargeType) {
		return fieldError("charge_type", "must be SPOTPAID, POSTPAID_BY_HOUR or PREPAID, not %q", r.ChargeType)
	}
	if len(r.InstanceIDs) == 0 {
		return fieldError("instance_ids", "is required")
	}
	return p.keeper.Change(func(w *world) error {
		now := w.now()
		w.advance(now)
		for _, id := range r.InstanceIDs {
			if w.instance(id) == nil {
				return fieldError("instance_ids", "there is no instance %q", id)
			}
		}
		for _, id := range r.InstanceIDs {
			if in := w.instance(id); in != nil {
				setState(w, in, r, now)
			}
		}
		return nil
	})
}

func setState(w *world, in *instance, r StateRequest, now time.Time) {
	if r.State == "GONE" {
		w.remove(in)
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
		w.convert(in, r.ChargeType, now)
	}
	w.touch(in.key())
}
