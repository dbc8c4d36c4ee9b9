package spotpool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// ConfigurationVersion is the version of the hash below. A tag of another
// version says nothing about whether an instance is outdated.
const ConfigurationVersion = "1"

const unknownPrefix = ConfigurationVersion + ":unknown@"

// placed is a configuration at one place: everything that an instance's own
// RunInstances carries. It is the input of the hash, so any change to what an
// existing configuration marshals to means a new ConfigurationVersion.
type placed struct {
	Configuration    string     `json:"configuration"` // the hash of the Configuration
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
	return placedTag(configurationHash(c), o, charge)
}

// UnknownConfigurationTag is the value of gpupool/config for an instance that
// was adopted: what it was launched with is unknown, and it counts as outdated
// only once the pool's configuration changes from c.
func UnknownConfigurationTag(c Configuration) string {
	return unknownPrefix + configurationHash(c)
}

func placedTag(configuration string, o Offering, charge ChargeType) string {
	return ConfigurationVersion + ":" + hash(placed{
		Configuration: configuration, AvailabilityZone: o.AvailabilityZone,
		InstanceType: o.InstanceType, SubnetID: o.SubnetID, ChargeType: charge,
	})
}

// configurationHash does not depend on the order of key ids, which says nothing. The
// order of security groups counts: it is their priority. Of a write-only value, its version
// counts: a plan does not know the value.
func configurationHash(c Configuration) string {
	c.UserDataWO = ""
	c.KeyIDs = slices.Sorted(slices.Values(c.KeyIDs))
	return hash(c)
}

// hash shortens a value's JSON, which sorts the keys of maps, to 16 digits: few
// enough for a tag, and no two configurations of a pool will ever share them.
func hash(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and integers alone: cannot fail
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Configurations tell current instances of a pool from outdated ones.
type Configurations struct {
	current  map[string]bool
	accepted []string
	unknown  string
}

// NewConfigurations are those of a declaration; accepted tags count as current, too.
func NewConfigurations(d Declaration, accepted []string) Configurations {
	configuration := configurationHash(d.Configuration)
	c := Configurations{current: map[string]bool{}, accepted: accepted, unknown: unknownPrefix + configuration}
	for _, o := range d.Offerings {
		for _, charge := range d.ChargeTypes() {
			c.current[placedTag(configuration, o, charge)] = true
		}
	}
	return c
}

// Outdated reports whether an instance's configuration is known to differ from
// what the pool would launch now. An absent tag, a tag of another version and a
// tag accepted at import are not known to differ.
func (c Configurations) Outdated(tag string) bool {
	if !strings.HasPrefix(tag, ConfigurationVersion+":") || slices.Contains(c.accepted, tag) {
		return false
	}
	if strings.HasPrefix(tag, unknownPrefix) {
		return tag != c.unknown
	}
	return !c.current[tag]
}
