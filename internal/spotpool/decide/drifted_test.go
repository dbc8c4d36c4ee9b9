package decide_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

func TestOnlyTheOwnConfigurationMakesAnInstanceOutdated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*spotpool.Declaration)
		drifted bool
	}{
		"nothing changed":            {func(*spotpool.Declaration) {}, false},
		"counts":                     {size(1, 9), false},
		"name":                       {func(d *spotpool.Declaration) { d.Name = "other" }, false},
		"price caps":                 {func(d *spotpool.Declaration) { d.Offerings[0].SpotMaxPrice = yuan("1") }, false},
		"another offering":           {func(d *spotpool.Declaration) { d.Offerings[1].SubnetID = "subnet-ffffffff" }, false},
		"an offering more":           {func(d *spotpool.Declaration) { d.Offerings = append(d.Offerings, offering(zone4, t4)) }, false},
		"the order of offerings":     {func(d *spotpool.Declaration) { d.Offerings[0], d.Offerings[1] = d.Offerings[1], d.Offerings[0] }, false},
		"its own subnet":             {func(d *spotpool.Declaration) { d.Offerings[0].SubnetID = "subnet-ffffffff" }, true},
		"its own offering is gone":   {func(d *spotpool.Declaration) { d.Offerings = d.Offerings[1:] }, true},
		"the image":                  {func(d *spotpool.Declaration) { d.ImageID = "img-ffffffff" }, true},
		"spot is no longer launched": {func(d *spotpool.Declaration) { d.InstanceChargeType = spotpool.OnDemand }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decide.Decide(seen(pool(c.change), instance("ins-1")))
			if got := p.Members[0].Drifted; got != c.drifted {
				t.Errorf("drifted is %t, want %t", got, c.drifted)
			}
		})
	}
}

func TestUnknownConfigurations(t *testing.T) {
	t.Parallel()
	tagged := func(tag string) spotpool.Instance {
		return instance("ins-1", func(i *spotpool.Instance) { i.ConfigurationTag = tag })
	}
	changed := pool(func(d *spotpool.Declaration) { d.ImageID = "img-ffffffff" })
	for name, c := range map[string]struct {
		declaration spotpool.Declaration
		instance    spotpool.Instance
		drifted     bool
	}{
		"adopted":                    {pool(), tagged(spotpool.UnknownConfigurationTag(pool().Configuration)), false},
		"adopted, and changed since": {changed, tagged(spotpool.UnknownConfigurationTag(pool().Configuration)), true},
		"of an older version":        {changed, tagged("0:00000000deadbeef"), false},
		"of a newer version":         {changed, tagged("2:00000000deadbeef"), false},
		"a tag of someone else":      {changed, tagged("blue"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decide.Decide(seen(c.declaration, c.instance))
			if got := p.Members[0].Drifted; got != c.drifted {
				t.Errorf("drifted is %t, want %t", got, c.drifted)
			}
		})
	}
	without := instance("ins-1")
	without.ConfigurationTag = ""
	if decide.Decide(seen(changed, without)).Members[0].Drifted {
		t.Error("an instance without a configuration tag is not known to be drifted")
	}
}

// Imported instances count as current until the configuration changes. They do not count as
// current again when it changes back.
func TestConfigurationsAcceptedAtImport(t *testing.T) {
	t.Parallel()
	old := instance("ins-1", drifted)
	s := seen(pool(size(1, 2)), old)
	s.Journal = s.Journal.Accepting([]string{old.ConfigurationTag, old.ConfigurationTag})
	isOutdated := func(d spotpool.Declaration) bool {
		s.Declaration = d
		s.Now = s.Now.Add(time.Minute)
		p := decide.Decide(s)
		s.Journal = p.Journal
		return p.Members[0].Drifted
	}
	if isOutdated(s.Declaration) {
		t.Error("it is drifted right after the import")
	}
	if isOutdated(pool(size(1, 3))) {
		t.Error("it is drifted after counts changed")
	}
	if !isOutdated(pool(func(d *spotpool.Declaration) { d.ImageID = "img-ffffffff" })) {
		t.Error("it is not drifted after the image changed")
	}
	if !isOutdated(pool()) {
		t.Error("it is not drifted after the image changed back")
	}
}
