package request

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const stockPoolHelp = `Request a stock pool. The next full run creates it, and the job succeeds when its
Deployment was applied. The stock pool belongs to the API: a run deletes it when it
expires. To keep it, import it into Terraform and apply.

A request cannot change a stock pool that exists. It can use neither a service account
nor a lower pod security level: declare that in Terraform.`

const stockPoolExamples = `  # Two warm pods for two days
  gpupool request stock-pool ml/g1 --spec-name g1.1 \
    --image nginxinc/nginx-unprivileged:1.27 --memory 16Gi --gpu 1 \
    --replicas 2 --duration 2d

  # All fields of the API, from a file
  gpupool request stock-pool --file pool.json`

// stockPool are the options of a requested stock pool.
type stockPool struct {
	options
	pool request.StockPool
	file string
}

func newStockPool(s *process.Session) *cobra.Command {
	o := &stockPool{options: options{session: s}}
	cmd := &cobra.Command{
		Use:     "stock-pool [[NAMESPACE/]NAME] (--spec-name SPEC --replicas N | --file FILE)",
		Short:   "Request a stock pool",
		Long:    stockPoolHelp,
		Example: stockPoolExamples,
		Args:    cobra.MaximumNArgs(1),
		RunE: s.Command(func(ctx context.Context, args []string) error {
			return o.submit(ctx, func(place store.Store) (request.Request, error) {
				pool, err := o.request(place, args)
				return request.Request{StockPool: &pool}, err
			})
		}),
	}
	f, p := cmd.Flags(), &o.pool
	f.StringVar(&p.SpecName, "spec-name", "", "`SPEC` of the pods, such as g1.1. Required.")
	f.StringVar(&p.Image, "image", "", "`IMAGE` of the pods. Default: a placeholder that only waits.")
	f.StringVar(&p.Memory, "memory", "", "`QUANTITY` of memory of each pod. Default: 64Mi.")
	f.StringVar(&p.CPU, "cpu", "", "`QUANTITY` of CPU that each pod requests.")
	f.IntVar(&p.GPU, "gpu", 0, "Number of GPUs of each pod.")
	f.IntVar(&p.Replicas, "replicas", 0, "Number of pods.")
	f.StringToStringVar(&p.Env, "env", nil, "`NAME=VALUE` of an environment variable. Repeatable.")
	f.StringToStringVar(&p.Labels, "label", nil, "`KEY=VALUE` of a label of the pods. Repeatable.")
	f.StringToStringVar(&p.NodeSelector, "node-selector", nil, "`KEY=VALUE` of a label of the nodes. Repeatable.")
	f.StringVar(&p.Budget, "budget", "", "`BUDGET` that blocks growth while it is exceeded.")
	f.StringVar(&o.file, "file", "", "`FILE` with the fields of the stock pool as JSON, or - for standard input.")
	for _, name := range []string{"spec-name", "image", "memory", "cpu", "gpu", "replicas", "env", "label", "node-selector", "budget"} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
	o.store.Register(cmd, s)
	o.person.RegisterSpan(cmd, &o.store)
	o.person.RegisterAuthor(cmd, &o.store)
	o.register(cmd)
	return cmd
}

// request returns the stock pool of the flags, or of the file.
func (o *stockPool) request(place store.Store, args []string) (request.StockPool, error) {
	pool := o.pool
	if o.file != "" {
		if o.pool.SpecName != "" || len(args) > 0 || o.person.Lasts() {
			return pool, process.Usagef("--file has all fields of the stock pool: omit its name and other flags")
		}
		return o.read()
	}
	if len(args) > 0 {
		pool.Namespace, pool.Name = nameOf(args[0])
	}
	if pool.SpecName == "" {
		return pool, process.Usagef("--spec-name is missing: use a flavor such as g1.1")
	}
	var err error
	if o.person.Lasts() {
		pool.Span, err = o.person.Span(place)
	}
	return pool, err
}

// nameOf parses [stock_pool/][NAMESPACE/]NAME.
func nameOf(arg string) (namespace, name string) {
	namespace, name, found := strings.Cut(strings.TrimPrefix(arg, "stock_pool/"), "/")
	if !found {
		return request.DefaultNamespace, namespace
	}
	return namespace, name
}

func (o *stockPool) read() (pool request.StockPool, err error) {
	stream, name, err := o.session.Input(o.file)
	if err != nil {
		return pool, err
	}
	defer func() { _ = stream.Close() }()
	decoder := json.NewDecoder(stream)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&pool); err != nil {
		return pool, fmt.Errorf("%s is not the JSON of a stock pool: %w", name, err)
	}
	return pool, nil
}
