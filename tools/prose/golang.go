package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// fewestWords is how many words a literal has that is read as prose.
const fewestWords = 3

// operator matches literals that are expressions, such as those of admission policies.
var operator = regexp.MustCompile(` (&&|\|\||==|!=) `)

// literals are the string literals of a Go file, one paragraph each. Concatenated ones are
// one literal, with NAME between them.
func literals(name string, data []byte) (text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, data, parser.SkipObjectResolution)
	if err != nil {
		return text{}, err
	}
	t := text{form: literal, path: name}
	var body strings.Builder
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			x.Tag = nil
		case *ast.BasicLit, *ast.BinaryExpr:
			said, isText := joined(x.(ast.Expr))
			if !isText {
				return true
			}
			if said = strings.TrimSpace(said); len(strings.Fields(said)) < fewestWords || operator.MatchString(said) {
				return false
			}
			at := files.Position(n.Pos()).Line
			for line := range strings.Lines(split(text{form: help, body: said}).body + "\n") {
				body.WriteString(line)
				t.lines = append(t.lines, at)
			}
			return false
		}
		return true
	})
	t.body = body.String()
	return t, nil
}

// comments are the comments of a Go file, as Markdown: what is indented is code there, too.
func comments(name string, data []byte) (text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return text{}, err
	}
	t := text{form: comment, path: name}
	var body strings.Builder
	for _, group := range file.Comments {
		at, said := files.Position(group.Pos()).Line, group.Text() // without directives
		end := "\n"
		if strings.HasPrefix(said, "Output:") { // of an example, whose lines are sentences
			end = "\n\n"
		}
		for n, line := range strings.Split(said, "\n") {
			for range end {
				t.lines = append(t.lines, at+n)
			}
			body.WriteString(line + end)
		}
	}
	t.body = body.String()
	return t, nil
}

// joined is a concatenation of strings of which at least one is a literal.
func joined(e ast.Expr) (said string, isText bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			said, err := strconv.Unquote(x.Value)
			return said, err == nil
		}
	case *ast.BinaryExpr:
		left, a := joined(x.X)
		right, b := joined(x.Y)
		if x.Op == token.ADD && (a || b) {
			return left + right, true
		}
	}
	return "NAME", false
}
