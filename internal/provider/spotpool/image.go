package spotpool

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// checkImage looks whether instances without keys, which keep the login of their
// image, can be launched: the cloud refuses that of a public one. It is an error
// where the plan makes it so, and a warning of a pool that was so before. An image
// that can't be looked up is left to the launch. The configuration must be known.
func (r *poolResource) checkImage(ctx context.Context, was, d core.Declaration, diags *diag.Diagnostics) {
	if !r.connection.Ready() || len(d.KeyIDs) > 0 || d.ImageID == "" || d.Region == "" {
		return
	}
	kind, err := r.connection.ImageType(ctx, d.Region, d.ImageID)
	switch {
	case err != nil:
	case kind == tencent.ImageUnknown:
		diags.AddAttributeWarning(path.Root("image_id"), "Image not found",
			fmt.Sprintf("The account sees no image %s in %s: launches will be refused unless it is there by then.", d.ImageID, d.Region))
	case kind == tencent.ImagePublic:
		const summary = "A public image needs key_ids"
		detail := fmt.Sprintf("Without key_ids, instances keep the login of their image. The cloud allows that for custom, shared and imported images alone, and %s is a public one: it refuses such launches. Set key_ids, or use a custom image.", d.ImageID)
		if was.ImageID == d.ImageID && slices.Equal(was.KeyIDs, d.KeyIDs) {
			diags.AddAttributeWarning(path.Root("image_id"), summary, detail)
			return
		}
		diags.AddAttributeError(path.Root("image_id"), summary, detail)
	}
}
