package linked

import (
	"fmt"
	"strings"
)

// Document is the text that is shipped with a binary: each module with its licenses, and each
// text once, with its modules.
func Document(modules []Module) string {
	var b strings.Builder
	b.WriteString("gpupool is licensed under the Mozilla Public License 2.0, see the file LICENSE next to this\none. It contains the modules " +
		"below, by their authors, under licenses of their own.\nThe source of a module is at https://proxy.golang.org/MODULE/@v/VERSION.zip, and " +
		"that of std at\nhttps://go.dev/dl.\n\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "%s %s: %s\n", m.Path, m.Version, strings.Join(m.Licenses, ", "))
	}
	var texts []string
	of := map[string][]string{}
	for _, m := range modules {
		for _, t := range m.Texts {
			content := strings.TrimSpace(strings.ReplaceAll(t.Content, "\r\n", "\n"))
			if of[content] == nil {
				texts = append(texts, content)
			}
			of[content] = append(of[content], m.Path+", "+t.Name)
		}
	}
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%[1]s\n%[2]s\n%[1]s\n\n%[3]s\n", strings.Repeat("=", 80), strings.Join(of[text], "\n"), text)
	}
	return b.String()
}
