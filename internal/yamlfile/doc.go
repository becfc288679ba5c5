// Package yamlfile reads YAML that a person has written: strictly, key by key,
// with the place of everything that is wrong and the line with a caret under
// it. What the reader asks for is also what its JSON Schema is made of.
package yamlfile
