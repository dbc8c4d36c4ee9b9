// Schema prints the provider's schemas as terraform providers schema -json does.
//
// Documentation is generated from this and not from Terraform's output. Each Terraform omits
// the kinds of schema that it does not know: 1.11 has no resource identity, 1.13 no list
// resources. So the pages are the same with any Terraform or OpenTofu, and need none.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	schemas, err := read(ctx, provider.NewServer("dev")())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(schemas)
}
