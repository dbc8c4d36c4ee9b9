package spotpool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// ConfigurationVersion is the version of the hash below. A tag of another version does not
// show whether an instance has drifted.
const ConfigurationVersion = "1"

const unknownPrefix = ConfigurationVersion + ":unknown@"

// placed is a configuration in one offering: everything in an instance's own RunInstances.
// It is the input of the hash: if a change alters the JSON of existing configurations, raise
// ConfigurationVersion.
type placed struct {
	Configuration    string     `json:"configuration"` // the hash of the Configuration
	AvailabilityZone string     `json:"availability_zone"`
	InstanceType     string     `json:"instance_type"`
	SubnetID         string     `json:"subnet_id"`
	ChargeType       ChargeType `json:"charge_type"`
}

// ConfigurationTag returns the tag gpupool/config of an instance launched with this
// configuration: the version, and a hash of its own RunInstances. Counts, price caps, names
// and the pool's other offerings are not part of it.
func ConfigurationTag(c Configuration, o Offering, charge ChargeType) string {
	return placedTag(configurationHash(c), o, charge)
}

// UnknownConfigurationTag returns the tag gpupool/config of an adopted instance. Its
// configuration is unknown, and it counts as drifted once the pool's changes from c.
func UnknownConfigurationTag(c Configuration) string {
	return unknownPrefix + configurationHash(c)
}

func placedTag(configuration string, o Offering, charge ChargeType) string {
	return ConfigurationVersion + ":" + hash(placed{
		Configuration: configuration, AvailabilityZone: o.AvailabilityZone,
		InstanceType: o.InstanceType, SubnetID: o.SubnetID, ChargeType: charge,
	})
}

// configurationHash ignores the order of key IDs. The order of security groups counts: it
// is their priority. A write-only value counts by its version, since a plan does not know
// the value.
func configurationHash(c Configuration) string {
	c.UserDataWO = ""
	c.KeyIDs = slices.Sorted(slices.Values(c.KeyIDs))
	return hash(c)
}

// hash returns 16 digits of a value's JSON, in which the keys of maps are sorted. That is
// short enough for a tag, and long enough to tell a pool's configurations apart.
func hash(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings and integers: cannot fail
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Configurations tell current instances of a pool from drifted ones.
type Configurations struct {
	current  map[string]bool
	accepted []string
	unknown  string
}

// NewConfigurations returns those of a declaration. Accepted tags count as current, too.
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

// Drifted reports whether an instance's configuration is known to differ from what the pool
// would launch now. An absent tag, a tag of another version and a tag that was accepted at
// import are not known to differ.
func (c Configurations) Drifted(tag string) bool {
	if !strings.HasPrefix(tag, ConfigurationVersion+":") || slices.Contains(c.accepted, tag) {
		return false
	}
	if strings.HasPrefix(tag, unknownPrefix) {
		return tag != c.unknown
	}
	return !c.current[tag]
}
