package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is one change: where it is, and what it does.
type mutant struct{ File, Func, What string }

func (m mutant) String() string { return m.File + " " + m.Func + ": " + m.What }

// edit is text that is put into a file. What closes comes before what opens at the same place.
type edit struct {
	at, seq int
	closes  bool
	text    string
	instead int // of so many bytes
}

// mutator writes all mutants of a package into its source, each behind a switch, so that one build plays all of them.
type mutator struct {
	info    *types.Info
	mutants []mutant
	seen    map[string]int

	file  *token.File
	name  string // of the file, as messages show it
	src   string
	fn    string // the function at hand
	edits []edit
}

func (m *mutator) mutate(set *token.FileSet, tree *ast.File, name, src string) string {
	m.file, m.name, m.src, m.edits = set.File(tree.Pos()), name, src, nil
	for _, d := range tree.Decls {
		if fn, is := d.(*ast.FuncDecl); is && fn.Body != nil {
			m.fn = fn.Name.Name
			if fn.Recv != nil {
				m.fn = strings.Trim(strings.Fields(m.text(fn.Recv.List[0].Type))[0], "*") + "." + m.fn
			}
			m.walk(fn.Body, fn.Type)
		}
	}
	slices.SortStableFunc(m.edits, func(a, b edit) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.closes != b.closes:
			return map[bool]int{true: -1, false: 1}[a.closes]
		case a.closes:
			return cmp.Compare(b.seq, a.seq)
		}
		return cmp.Compare(a.seq, b.seq)
	})
	out, at := "", 0
	for _, e := range m.edits {
		out, at = out+src[at:e.at]+e.text, e.at+e.instead
	}
	return out + src[at:]
}

func (m *mutator) offset(p token.Pos) int { return m.file.Offset(p) }

func (m *mutator) text(n ast.Node) string { return m.src[m.offset(n.Pos()):m.offset(n.End())] }

// add notes a mutant and returns the condition under which it is played.
func (m *mutator) add(what string, n ast.Node) string {
	text := []rune(strings.Join(strings.Fields(m.text(n)), " "))
	if len(text) > 90 {
		text = append(text[:89], '…')
	}
	v := mutant{m.name, m.fn, what + " `" + string(text) + "`"}
	m.seen[v.String()]++
	if n := m.seen[v.String()]; n > 1 {
		v.What += fmt.Sprintf(" #%d", n)
	}
	m.mutants = append(m.mutants, v)
	return fmt.Sprintf("strengthPlays(%d)", len(m.mutants)-1)
}

func (m *mutator) wrap(n ast.Node, before, after string) {
	m.edits = append(m.edits, edit{m.offset(n.Pos()), len(m.edits), false, before, 0}, edit{m.offset(n.End()), len(m.edits), true, after, 0})
}

// walk puts in the mutants of a body, and of the function literals in it.
func (m *mutator) walk(body *ast.BlockStmt, of *ast.FuncType) {
	ends := map[*ast.BlockStmt]bool{body: true} // after which there may be nothing
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			m.walk(n.Body, n.Type)
			return false
		case *ast.BlockStmt:
			m.list(n.List, of, ends[n])
		case *ast.CaseClause:
			for _, e := range n.List {
				if t := m.info.Types[e]; t.IsValue() && types.Default(t.Type) == types.Typ[types.Bool] {
					m.condition(e)
				}
			}
			m.list(n.Body, of, true)
		case *ast.IfStmt:
			if other, is := n.Else.(*ast.BlockStmt); is {
				ends[n.Body], ends[other] = true, true
			}
			m.condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				m.wrap(n.Cond, "!"+m.add("never", n.Cond)+" && (", ")")
			}
		case *ast.BinaryExpr:
			m.binary(n)
		}
		return true
	})
}

// list puts in what empties a statement. The compiler wants the return at an end to be there.
func (m *mutator) list(all []ast.Stmt, of *ast.FuncType, end bool) {
	for i, s := range all {
		needed := end && i == len(all)-1 && of.Results != nil
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt, *ast.RangeStmt, *ast.BranchStmt:
			if !needed || !strings.HasPrefix(m.text(s), "panic(") {
				m.wrap(s, "if !"+m.add("drop", s)+" { ", " }")
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				m.wrap(s, "if !"+m.add("drop", s)+" { ", " }")
				continue
			}
			m.defines(s)
		case *ast.ReturnStmt:
			m.returns(s, of, needed)
		}
	}
}

// defines has each variable that is declared with a value be zero.
func (m *mutator) defines(s *ast.AssignStmt) {
	for k, left := range s.Lhs {
		if id := left.(*ast.Ident); id.Name != "_" && (len(s.Rhs) < len(s.Lhs) || !m.isZero(s.Rhs[k])) {
			m.wrap(s, "", "; if "+m.add("zero "+id.Name, s)+" { strengthZero(&"+id.Name+") }")
		}
	}
}

func (m *mutator) returns(s *ast.ReturnStmt, of *ast.FuncType, needed bool) {
	var zero []string
	for _, f := range fields(of.Results) {
		zero = append(zero, "*new("+m.text(f.Type)+")")
	}
	switch value := slices.ContainsFunc(s.Results, func(e ast.Expr) bool { return !m.isZero(e) }); {
	case len(s.Results) == 1 && zero[0] == "*new(bool)":
		m.wrap(s.Results[0], "("+m.add("flip", s)+") != (", ")")
	case value:
		m.wrap(s, "if "+m.add("zero", s)+" { return "+strings.Join(zero, ", ")+" }; ", "")
	case !needed:
		m.wrap(s, "if !"+m.add("drop", s)+" { ", " }")
	}
}

// fields are the results, one for each name.
func fields(list *ast.FieldList) (out []*ast.Field) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		out = append(out, slices.Repeat([]*ast.Field{f}, max(1, len(f.Names)))...)
	}
	return out
}

// isZero says that an expression is written as the zero value, or as an empty one.
func (m *mutator) isZero(e ast.Expr) bool {
	text := m.text(e)
	_, isLiteral := e.(*ast.CompositeLit)
	empty := strings.HasPrefix(text, "make([]") && strings.Contains(text, ", 0, ") ||
		isLiteral && strings.HasSuffix(text, "{}") && !strings.HasPrefix(text, "map")
	return empty || slices.Contains([]string{"nil", "0", "0.0", "int64(0)", `""`, "false"}, text)
}

// condition puts in what makes a whole condition true, or false. The parts of it are binary's.
func (m *mutator) condition(e ast.Expr) {
	b, _ := e.(*ast.BinaryExpr)
	if b == nil || b.Op != token.LAND {
		m.wrap(e, m.add("always", e)+" || (", ")")
	}
	if b == nil || b.Op != token.LOR {
		m.wrap(e, "!"+m.add("never", e)+" && (", ")")
	}
}

func (m *mutator) binary(b *ast.BinaryExpr) {
	t, _ := m.info.TypeOf(b.X).Underlying().(*types.Basic)
	numbers := t != nil && t.Info()&types.IsNumeric != 0 && m.info.Types[b].Value == nil
	switch b.Op {
	case token.LAND, token.LOR:
		for _, part := range []ast.Expr{b.X, b.Y} {
			if inner, is := part.(*ast.BinaryExpr); is && inner.Op == b.Op {
				continue
			}
			if b.Op == token.LAND {
				m.wrap(part, "("+m.add("always", part)+" || ", ")")
			} else {
				m.wrap(part, "(!"+m.add("never", part)+" && (", "))")
			}
		}
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		if t != nil && t.Kind() == types.Int64 {
			return // moments and durations: two that are the same to the nanosecond are no behaviour
		}
		m.wrap(b, "(("+m.add("at the limit", b)+" && ("+m.text(b.X)+") == ("+m.text(b.Y)+")) != (", "))")
	case token.ADD, token.SUB, token.MUL, token.QUO:
		if other := map[token.Token]string{token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*"}; numbers {
			m.edits = append(m.edits, edit{m.offset(b.OpPos), len(m.edits), true, ",", 1})
			m.wrap(b, fmt.Sprintf("strengthNumber(%s, '%s', '%s', ", m.add(other[b.Op]+" for "+b.Op.String(), b), other[b.Op], b.Op), ")")
		}
	}
}
