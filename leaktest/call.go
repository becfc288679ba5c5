package leaktest

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/leakbench/leakbench/driver"
)

// calling calls a tool of what an Open has returned.
type calling func(ctx context.Context, tool string, args map[string]any) (string, error)

// notCalled is what a client's calls come to where none of its methods fits.
const notCalled = "your client's own reconnect was not played: pass call, as in leaktest.Options{Call: ...} " +
	"(%T has no CallTool and no Call that leakbench knows)"

// callsOf is how tools of a client are called: by the function that the test has given, else by a method that fits. No SDK is imported
// for that: a method is known by its parameters, and a result by its content.
func callsOf(client io.Closer, given func(context.Context, io.Closer, string, map[string]any) (string, error)) calling {
	if given != nil {
		return func(ctx context.Context, tool string, args map[string]any) (string, error) {
			return given(ctx, client, tool, args)
		}
	}
	for _, name := range []string{"CallTool", "Call"} {
		if m := reflect.ValueOf(client).MethodByName(name); m.IsValid() {
			if call := fitting(m); call != nil {
				return call
			}
		}
	}
	return func(context.Context, string, map[string]any) (string, error) {
		return "", &driver.NotPlayed{Why: fmt.Sprintf(notCalled, client)}
	}
}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
	argsType    = reflect.TypeFor[map[string]any]()
)

// fitting makes a call of a method, or nil where it is none that calls a tool: (ctx, name, args) or (ctx, request), with options or
// without, to a result and an error.
func fitting(m reflect.Value) calling {
	t := m.Type()
	in := t.NumIn()
	if t.IsVariadic() {
		in--
	}
	if in < 2 || t.In(0) != contextType || t.NumOut() != 2 || t.Out(1) != errorType || !isResult(t.Out(0)) {
		return nil
	}
	var parameters func(tool string, args map[string]any) []reflect.Value
	switch {
	case in == 3 && t.In(1).Kind() == reflect.String && argsType.ConvertibleTo(t.In(2)):
		parameters = func(tool string, args map[string]any) []reflect.Value {
			return []reflect.Value{reflect.ValueOf(tool).Convert(t.In(1)), reflect.ValueOf(args).Convert(t.In(2))}
		}
	case in == 2 && request(t.In(1), "", nil).IsValid():
		parameters = func(tool string, args map[string]any) []reflect.Value {
			return []reflect.Value{request(t.In(1), tool, args)}
		}
	default:
		return nil
	}
	return func(ctx context.Context, tool string, args map[string]any) (string, error) {
		out := m.Call(append([]reflect.Value{reflect.ValueOf(ctx)}, parameters(tool, args)...))
		if err, failed := out[1].Interface().(error); failed {
			return "", err
		}
		return textOf(out[0])
	}
}

// request is a request to call a tool: a struct, or a pointer to one, with Name and Arguments, or with Params that have them. It is not
// valid where the type is another one.
func request(t reflect.Type, tool string, args map[string]any) reflect.Value {
	whole := reflect.New(t).Elem()
	params := pointedTo(whole)
	if params.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	if own := params.FieldByName("Params"); own.IsValid() && own.CanSet() {
		params = pointedTo(own)
	}
	if params.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	name, arguments := params.FieldByName("Name"), params.FieldByName("Arguments")
	if name.Kind() != reflect.String || !arguments.IsValid() || !argsType.ConvertibleTo(arguments.Type()) {
		return reflect.Value{}
	}
	name.SetString(tool)
	arguments.Set(reflect.ValueOf(args).Convert(arguments.Type()))
	return whole
}

// pointedTo is a value, or what it points to, which is made where it points to nothing.
func pointedTo(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		v.Set(reflect.New(v.Type().Elem()))
	}
	return v.Elem()
}

// isResult reports whether a type can be read as the result of a tool: a text, or something that has Content.
func isResult(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return t.Kind() == reflect.String
	}
	content, has := t.FieldByName("Content")
	return has && content.Type.Kind() == reflect.Slice
}

// textOf is the text of a tool's result: itself, or the Text of each element of its Content. IsError makes an error of it.
func textOf(v reflect.Value) (string, error) {
	if v = inside(v); v.Kind() != reflect.Struct {
		if v.Kind() == reflect.String {
			return v.String(), nil
		}
		return "", nil // a nil result
	}
	var texts []string
	for _, part := range v.FieldByName("Content").Seq2() {
		if part = inside(part); part.Kind() != reflect.Struct {
			continue
		}
		if text := part.FieldByName("Text"); text.Kind() == reflect.String {
			texts = append(texts, text.String())
		}
	}
	failed := v.FieldByName("IsError")
	return driver.ToolText(texts, failed.Kind() == reflect.Bool && failed.Bool())
}

// inside is what interfaces and pointers lead to.
func inside(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v
}
