package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// module is a Go module inside of a program.
type module struct{ path, version string }

func (m module) purl() string { return "pkg:golang/" + m.path + "@" + m.version }

// modulesOf reads what Go wrote into a program.
func modulesOf(program string) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("failed to read the modules of a program: %w", err)
	}
	modules := []module{{"std", info.GoVersion}}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		modules = append(modules, module{dep.Path, dep.Version})
	}
	return modules, nil
}

// component and dependency are those of CycloneDX 1.6.
type component struct {
	Type    string              `json:"type"`
	Ref     string              `json:"bom-ref"`
	Name    string              `json:"name"`
	Version string              `json:"version,omitempty"`
	Purl    string              `json:"purl,omitempty"`
	Hashes  []map[string]string `json:"hashes,omitempty"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

func hashed(c component, sum string) component {
	c.Hashes = []map[string]string{{"alg": "SHA-256", "content": sum}}
	return c
}

// sbom lists each published file with its checksum, the image, and the modules that are inside.
func (r *release) sbom() error {
	self := module{"github.com/leakbench/leakbench", "v" + r.version}
	inside, of := map[string]component{}, map[string][]string{}
	for platform, modules := range r.modules {
		for _, m := range modules {
			inside[m.purl()] = component{Type: "library", Ref: m.purl(), Name: m.path, Version: m.version, Purl: m.purl()}
			of[platform] = append(of[platform], m.purl())
		}
		slices.Sort(of[platform])
	}
	var components []component
	var dependencies []dependency
	for _, ref := range slices.Sorted(maps.Keys(inside)) {
		components = append(components, inside[ref])
	}
	for _, f := range r.files {
		components = append(components, hashed(component{Type: "file", Ref: "file:" + f.name, Name: f.name}, f.sum))
		dependencies = append(dependencies, dependency{"file:" + f.name, of[f.platform]})
	}
	if r.digest != "" {
		ref := imageName + "@" + r.digest
		image := component{Type: "container", Ref: ref, Name: imageName, Version: r.version}
		components = append(components, hashed(image, r.digest[len("sha256:"):]))
		all := slices.Concat(of["linux/amd64"], of["linux/arm64"])
		slices.Sort(all)
		dependencies = append(dependencies, dependency{ref, slices.Compact(all)})
	}
	content, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.at.Format(time.RFC3339),
			"component": component{Type: "application", Ref: self.purl(), Name: "leakbench", Version: r.version, Purl: self.purl()},
		},
		"components": components, "dependencies": dependencies,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("failed to write the SBOM: %w", err)
	}
	return r.publish("leakbench_"+r.version+".sbom.json", "", append(content, '\n'))
}
