package toycloud_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools/cloudtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools/cloudtest/toycloud"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	cloudtest.Run(t, func(*testing.T) cloudtest.Cloud {
		c := toycloud.New()
		return cloudtest.Cloud{Cloud: c, Stage: c, Request: toycloud.Request()}
	})
}
