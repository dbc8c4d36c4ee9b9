package main

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const internalPath = "github.com/gpupool/terraform-provider-gpupool/internal/"

// A name is that of a type: its package, below internal/ or of another module, and its identifier.
type name struct{ pkg, ident string }

func (n name) String() string { return n.pkg + "." + n.ident }

// A declared type is one with its comment, and the imports of its file.
type declared struct {
	name    name
	expr    ast.Expr
	doc     string
	imports map[string]string // paths by name
}

// A value is a constant.
type value struct {
	ident, text, doc string
}

// A source is the code below internal/.
type source struct {
	types  map[name]declared
	values map[name][]value // by type, or by package if a constant has none, in the order of the code
	custom map[name]bool    // types with their own JSON
}

// parse reads the code below internal/ of a repository.
func parse(root string) (*source, error) {
	s := &source{types: map[name]declared{}, values: map[name][]value{}, custom: map[name]bool{}}
	dir := filepath.Join(root, "internal")
	return s, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(dir, filepath.Dir(file))
		if err != nil {
			return err
		}
		return s.add(filepath.ToSlash(folder), file, text)
	})
}

// add adds the declarations of a file of a package.
func (s *source) add(pkg, file string, text []byte) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	imports := map[string]string{}
	for _, i := range parsed.Imports {
		full, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		local := path.Base(full)
		if i.Name != nil {
			local = i.Name.Name
		}
		imports[local] = strings.TrimPrefix(full, internalPath)
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && (d.Name.Name == "MarshalJSON" || d.Name.Name == "MarshalText") {
				if of, named := baseType(d.Recv.List[0].Type).(*ast.Ident); named {
					s.custom[name{pkg, of.Name}] = true
				}
			}
		case *ast.GenDecl:
			s.addSpecs(pkg, d, imports)
		}
	}
	return nil
}

func (s *source) addSpecs(pkg string, d *ast.GenDecl, imports map[string]string) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil {
				doc = d.Doc
			}
			n := name{pkg, spec.Name.Name}
			s.types[n] = declared{n, spec.Type, flowing(doc.Text()), imports}
		case *ast.ValueSpec:
			if d.Tok == token.CONST && len(spec.Names) == 1 && len(spec.Values) == 1 {
				s.addValue(pkg, spec)
			}
		}
	}
}

func (s *source) addValue(pkg string, spec *ast.ValueSpec) {
	literal, isLiteral := spec.Values[0].(*ast.BasicLit)
	if !isLiteral {
		return
	}
	of := name{pkg: pkg}
	if typed, named := spec.Type.(*ast.Ident); named {
		of.ident = typed.Name
	}
	text := literal.Value
	if v := constant.MakeFromLiteral(text, literal.Kind, 0); v.Kind() == constant.String {
		text = constant.StringVal(v)
	}
	s.values[of] = append(s.values[of], value{spec.Names[0].Name, text, comment(spec.Names[0].Name, spec.Doc, spec.Comment)})
}

// baseType returns the type that a receiver or a pointer is of.
func baseType(e ast.Expr) ast.Expr {
	if p, isPointer := e.(*ast.StarExpr); isPointer {
		return p.X
	}
	return e
}

// named returns the name of the type of an expression in the file of a type; false if it has none.
func (d declared) named(e ast.Expr) (name, bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return name{d.name.pkg, e.Name}, true
	case *ast.SelectorExpr:
		if pkg, isName := e.X.(*ast.Ident); isName {
			return name{d.imports[pkg.Name], e.Sel.Name}, true
		}
	}
	return name{}, false
}

// comment returns the comments of an identifier, as a sentence that does not start with it.
func comment(ident string, groups ...*ast.CommentGroup) string {
	var texts []string
	for _, g := range groups {
		if text := flowing(g.Text()); text != "" {
			texts = append(texts, sentence(ident, text))
		}
	}
	return strings.Join(texts, " ")
}

// sentence returns a doc comment without the identifier that it starts with, as a sentence.
func sentence(ident, text string) string {
	for _, verb := range []string{" is ", " are ", " reports ", " says "} {
		text = strings.TrimPrefix(text, ident+verb)
	}
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// flowing returns a comment as one line.
func flowing(text string) string { return strings.Join(strings.Fields(text), " ") }
