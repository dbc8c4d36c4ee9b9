package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

const completionExamples = `  # bash: for this shell, and permanently (needs the package bash-completion)
  source <(gpupool completion bash)
  gpupool completion bash > ~/.local/share/bash-completion/completions/gpupool

  # zsh, into a directory of $fpath
  gpupool completion zsh > "${fpath[1]}/_gpupool"

  # fish
  gpupool completion fish > ~/.config/fish/completions/gpupool.fish

  # PowerShell, for this shell
  gpupool completion powershell | Out-String | Invoke-Expression`

func newCompletion(s *process.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "completion bash|zsh|fish|powershell",
		Short:                 "Print a shell completion script",
		Example:               completionExamples,
		ValidArgs:             shells,
		Args:                  oneShell,
		DisableFlagsInUseLine: true,
	}
	cmd.RunE = s.Command(func(_ context.Context, args []string) error {
		return writeCompletion(cmd.Root(), args[0], s.Stdout)
	})
	return cmd
}

var shells = []cobra.Completion{"bash", "zsh", "fish", "powershell"}

// oneShell requires one supported shell.
func oneShell(_ *cobra.Command, args []string) error {
	known := "bash, zsh, fish or powershell"
	switch {
	case len(args) != 1:
		return fmt.Errorf("expected one shell: %s", known)
	case !slices.Contains(shells, args[0]):
		return fmt.Errorf("unsupported shell %s: use one of %s", args[0], known)
	}
	return nil
}

func writeCompletion(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenPowerShellCompletionWithDesc(w)
}
