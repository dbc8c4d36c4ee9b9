package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

const completionExamples = `  # bash, for this shell alone, and for good (needs the package bash-completion)
  source <(gpupool completion bash)
  gpupool completion bash > ~/.local/share/bash-completion/completions/gpupool

  # zsh, into a directory of $fpath
  gpupool completion zsh > "${fpath[1]}/_gpupool"

  # fish
  gpupool completion fish > ~/.config/fish/completions/gpupool.fish

  # PowerShell, for this shell alone
  gpupool completion powershell | Out-String | Invoke-Expression`

func newCompletion(s *process.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:                   "completion bash|zsh|fish|powershell",
		Short:                 "Print the script that lets a shell complete gpupool's commands and flags",
		Example:               completionExamples,
		ValidArgs:             []string{"bash", "zsh", "fish", "powershell"},
		Args:                  cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		DisableFlagsInUseLine: true,
	}
	cmd.RunE = s.Command(func(_ context.Context, args []string) error {
		return writeCompletion(cmd.Root(), args[0], s.Stdout)
	})
	return cmd
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
