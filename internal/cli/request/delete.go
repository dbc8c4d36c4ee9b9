package request

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const deleteHelp = `Request the deletion of a stock pool that was requested. The next full run deletes its
Deployment, and the job succeeds when that and its pods are gone.

A stock pool that Terraform manages is never deleted by a request: remove it from the
configuration.`

func newDelete(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "delete [NAMESPACE/]NAME",
		Short:   "Request the deletion of a requested stock pool",
		Long:    deleteHelp,
		Example: "  gpupool request delete ml/g1",
		Args:    process.Arguments("gpupool request delete ml/g1", "[NAMESPACE/]NAME"),
		RunE: s.Command(func(ctx context.Context, args []string) error {
			return o.submit(ctx, func(store.Store) (request.Request, error) {
				namespace, name := nameOf(args[0])
				return request.Request{Delete: &request.Delete{StockPool: namespace + "/" + name}}, nil
			})
		}),

		ValidArgsFunction: o.store.CompleteNames(true, store.StockPools),
	}
	o.store.Register(cmd, s)
	o.person.RegisterAuthor(cmd, &o.store)
	o.register(cmd)
	return cmd
}
