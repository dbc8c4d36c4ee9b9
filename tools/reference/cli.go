package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// commands writes the page about commands.
func commands(root *cobra.Command) string {
	var b strings.Builder
	root.InitDefaultHelpFlag()
	command(&b, "##", root)
	groups := root.Groups()
	for _, g := range groups {
		b.WriteString("## " + strings.TrimSuffix(g.Title, ":") + "\n\n")
		commandsOf(&b, root, g.ID)
	}
	if len(groups) > 0 {
		b.WriteString("## Other commands\n\n")
	}
	commandsOf(&b, root, "")
	return b.String()
}

// commandsOf writes the commands of a group, and those below them.
func commandsOf(b *strings.Builder, parent *cobra.Command, group string) {
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() || c.GroupID != group {
			continue
		}
		command(b, "###", c)
		commandsOf(b, c, "")
	}
}

// command writes one command.
func command(b *strings.Builder, mark string, c *cobra.Command) {
	b.WriteString(mark + " " + c.CommandPath() + "\n\n" + c.Short + ".\n\n")
	block := func(kind, text string) {
		if text = strings.TrimRight(text, " \n"); text != "" {
			b.WriteString("```" + kind + "\n" + text + "\n```\n\n")
		}
	}
	if c.Runnable() {
		block("text", c.UseLine())
	}
	block("text", c.Long)
	if flags := strings.TrimRight(c.NonInheritedFlags().FlagUsages(), "\n"); flags != "" {
		b.WriteString("Flags:\n\n")
		block("text", flags)
	}
	if c.HasExample() {
		b.WriteString("Examples:\n\n")
		block("sh", unindented(c.Example))
	}
}

// unindented returns examples without the indentation of help texts.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for n, l := range lines {
		lines[n] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}
