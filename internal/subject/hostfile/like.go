package hostfile

import (
	"cmp"
	"io/fs"

	"github.com/leakbench/leakbench/hosts"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// like is the name of a preset, whose install section is read. Presets that differ only in how they are used share a lock file in this way.
func like(into **subject.Install) yamlfile.Value {
	var name string
	return yamlfile.Name(&name, "the name of a preset").Then(func(n *yamlfile.Node) {
		if name != "" {
			*into = installOf(hosts.Files, n, name)
		}
	})
}

// installOf is the install section of a preset. One that is like a third preset has none: chains and circles can't be written.
func installOf(presets fs.FS, n *yamlfile.Node, name string) *subject.Install {
	src, err := fs.ReadFile(presets, name+"/"+hosts.HostFile)
	if err != nil {
		n.Problem("there is no preset %q; %s", name, cmp.Or(text.DidYouMean(name, Presets()), "leakbench hosts lists them"))
		return nil
	}
	var in *subject.Install
	third := ""
	_ = yamlfile.Parse(name, src, format, func(root *yamlfile.Node) { // what is wrong with it, the preset itself reports
		install(&in).Read(root.Find("install"))
		if its := root.Find("like"); its != nil {
			third = its.Source
		}
	})
	switch {
	case third == name:
		n.Problem("the preset %s is like itself", name)
		return nil
	case third != "":
		n.Problem("the preset %s is itself like %s; name a preset with an install section", name, third)
		return nil
	case in == nil:
		n.Problem("the preset %s has no packages to install", name)
		return nil
	}
	in.Like = name
	in.Files, err = hosts.Packages(name)
	if err != nil {
		n.Problem("the preset %s: %v", name, err)
	}
	return in
}
