package spotpool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ConfigurationVersion is the version of the hash below. A tag of another
// version says nothing about whether an instance is outdated.
const ConfigurationVersion = "1"

const unknownPrefix = ConfigurationVersion + ":unknown@"

// hashed is everything that an instance's own RunInstances carried, in an order
// that never changes: it is the input of the hash, so adding a field here means
// a new ConfigurationVersion.
type hashed struct {
	Configuration
	Tags             []string   `json:"tags"` // sorted key=value; shadows the map
	AvailabilityZone string     `json:"availability_zone"`
	InstanceType     string     `json:"instance_type"`
	SubnetID         string     `json:"subnet_id"`
	ChargeType       ChargeType `json:"charge_type"`
}

// ConfigurationTag is the value of the tag gpupool/config for an instance
// launched from this configuration: the version and a hash over what its own
// RunInstances carries. Counts, price caps, names and the pool's other
// offerings are deliberately not part of it.
func ConfigurationTag(c Configuration, o Offering, charge ChargeType) string {
	return ConfigurationVersion + ":" + digest(hashed{
		Configuration: c, AvailabilityZone: o.AvailabilityZone,
		InstanceType: o.InstanceType, SubnetID: o.SubnetID, ChargeType: charge,
	})
}

// UnknownConfigurationTag is the value of gpupool/config for an instance that
// was adopted: what it was launched with is unknown, and it counts as outdated
// only once the pool's configuration changes from c.
func UnknownConfigurationTag(c Configuration) string {
	return unknownPrefix + digest(hashed{Configuration: c})
}

func digest(h hashed) string {
	for _, k := range slices.Sorted(maps.Keys(h.Configuration.Tags)) {
		h.Tags = append(h.Tags, k+"="+h.Configuration.Tags[k])
	}
	h.Configuration.Tags = nil
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // strings and integers alone: cannot fail
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// configurations tells current instances of a pool from outdated ones.
type configurations struct {
	current  map[string]bool
	accepted []string
	unknown  string
}

func newConfigurations(d Declaration, accepted []string) configurations {
	c := configurations{current: map[string]bool{}, accepted: accepted, unknown: UnknownConfigurationTag(d.Configuration)}
	for _, o := range d.Offerings {
		for _, charge := range d.chargeTypes() {
			c.current[ConfigurationTag(d.Configuration, o, charge)] = true
		}
	}
	return c
}

// outdated reports whether an instance's configuration is known to differ from
// the declared one. An absent tag, a tag of another version and a tag accepted
// at import are not known to differ.
func (c configurations) outdated(tag string) bool {
	if !strings.HasPrefix(tag, ConfigurationVersion+":") || slices.Contains(c.accepted, tag) {
		return false
	}
	if strings.HasPrefix(tag, unknownPrefix) {
		return tag != c.unknown
	}
	return !c.current[tag]
}
