package problem

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Error returns an error at an attribute, or of the whole object at path.Empty(). The text of the reason is its summary,
// and the remedy its detail.
func Error(at path.Path, why reason.Reason) diag.Diagnostic {
	if len(at.Steps()) == 0 {
		return diag.NewErrorDiagnostic(summary(why), detail(why))
	}
	return diag.NewAttributeErrorDiagnostic(at, summary(why), detail(why))
}

// Warning is Error for a warning.
func Warning(at path.Path, why reason.Reason) diag.Diagnostic {
	if len(at.Steps()) == 0 {
		return diag.NewWarningDiagnostic(summary(why), detail(why))
	}
	return diag.NewAttributeWarningDiagnostic(at, summary(why), detail(why))
}

func summary(why reason.Reason) string { return wording.Capital(words.Text(why)) }

// detail returns sentences, as in Terraform's own messages. A paragraph of several lines may end with a command.
func detail(why reason.Reason) string {
	paragraphs := strings.Split(strings.TrimSpace(words.Remedy(why)), "\n\n")
	for n, text := range paragraphs {
		if text != "" && !strings.Contains(text, "\n") && !strings.ContainsAny(text[len(text)-1:], ".!?") {
			text += "."
		}
		paragraphs[n] = wording.Capital(text)
	}
	return strings.Join(paragraphs, "\n\n")
}
