package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// length is a flag that takes a length of time, as attributes of pools and
// budgets do: "90s", "1h30m", "7d".
type length struct{ value *time.Duration }

func (l length) String() string { return l.value.String() }
func (l length) Type() string   { return "duration" }

func (l length) Set(s string) (err error) {
	*l.value, err = duration.Parse(s)
	return err
}

func lengthVar(cmd *cobra.Command, value *time.Duration, name string, initial time.Duration, usage string) {
	*value = initial
	cmd.Flags().Var(length{value}, name, usage)
}
