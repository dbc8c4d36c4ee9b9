package spotpool_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestAWriteOnlyValueIsKnownByItsVersion: a plan, which lacks the value, takes no instance
// for drifted, and the record's value stays with its version.
func TestAWriteOnlyValueIsKnownByItsVersion(t *testing.T) {
	t.Parallel()
	of := func(value string, version int64) spotpool.Declaration {
		return spotpool.Declaration{Configuration: spotpool.Configuration{UserDataWO: value, UserDataWOVersion: version}}
	}
	tag := func(d spotpool.Declaration) string {
		return spotpool.ConfigurationTag(d.Configuration, spotpool.Offering{}, spotpool.Spot)
	}
	if tag(of("a", 1)) != tag(of("", 1)) || tag(of("a", 1)) == tag(of("a", 2)) {
		t.Error("the tag does not go by the version alone")
	}
	for _, c := range []struct {
		now, recorded spotpool.Declaration
		want          string
		refused       bool
	}{
		{of("", 1), of("a", 1), "a", false},
		{of("b", 1), of("a", 1), "a", false},
		{of("b", 2), of("a", 1), "b", false},
		{of("b", 1), of("", 0), "b", false},
		{of("", 2), of("a", 1), "", true},
		{of("", 1), of("", 0), "", true},
		{of("", 0), of("a", 1), "", false},
	} {
		got, err := c.now.WithWriteOnly(c.recorded)
		if got.UserDataWO != c.want || (err != nil) != c.refused {
			t.Errorf("of version %d over %d it is %q, %v; want %q", c.now.UserDataWOVersion, c.recorded.UserDataWOVersion, got.UserDataWO, err, c.want)
		}
	}
	text := (spotpool.Request{Configuration: of("a "+spotpool.BootstrapTokenPlaceholder, 1).Configuration}).Joining("id", "secret").Script()
	if text != "a id.secret" {
		t.Errorf("with its token, it is %q", text)
	}
}
