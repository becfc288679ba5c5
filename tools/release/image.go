package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// imageName is where the image is published.
const imageName = "ghcr.io/leakbench/leakbench"

// descriptor names a blob of an image (OCI image specification 1.1).
type descriptor struct {
	MediaType string            `json:"mediaType"`
	Digest    string            `json:"digest"`
	Size      int               `json:"size"`
	Platform  map[string]string `json:"platform,omitempty"`
	Notes     map[string]string `json:"annotations,omitempty"`
}

// layout collects the blobs of an image.
type layout struct{ entries []entry }

func (l *layout) blob(mediaType string, content []byte) descriptor {
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	l.entries = append(l.entries, entry{"blobs/sha256/" + name, 0o644, content})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: len(content)}
}

func (l *layout) object(mediaType string, object any) (descriptor, error) {
	content, err := json.Marshal(object)
	return l.blob(mediaType, content), err
}

const (
	ofLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
	ofConfig   = "application/vnd.oci.image.config.v1+json"
	ofManifest = "application/vnd.oci.image.manifest.v1+json"
	ofIndex    = "application/vnd.oci.image.index.v1+json"
)

// image writes what the Dockerfile builds, for each platform of Linux, as an OCI archive. It needs no Docker, and its digest is known
// before it is pushed: checksums and provenance can name it.
func (r *release) image() error {
	var l layout
	var manifests []descriptor
	for _, platform := range r.platforms {
		if !strings.HasPrefix(platform, "linux/") {
			continue
		}
		manifest, err := r.imageOf(&l, platform)
		if err != nil {
			return fmt.Errorf("failed to make the image of %s: %w", platform, err)
		}
		manifests = append(manifests, manifest)
	}
	if len(manifests) == 0 {
		fmt.Fprintln(r.said, "no image: it is made for Linux")
		return nil
	}
	index, err := l.object(ofIndex, map[string]any{"schemaVersion": 2, "mediaType": ofIndex, "manifests": manifests})
	if err != nil {
		return err
	}
	r.digest = index.Digest
	index.Notes = map[string]string{"org.opencontainers.image.ref.name": r.version}
	top, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": ofIndex, "manifests": []descriptor{index}})
	if err != nil {
		return err
	}
	l.entries = append(l.entries, entry{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, entry{"index.json", 0o644, top})
	var archive bytes.Buffer
	if err := r.tar(&archive, l.entries); err != nil {
		return fmt.Errorf("failed to write the image: %w", err)
	}
	base := "leakbench_" + r.version + "_image"
	return errors.Join(r.publish(base+".tar", "", archive.Bytes()), r.publish(base+".txt", "", []byte(imageName+"@"+r.digest+"\n")))
}

// imageOf adds the layer, the configuration and the manifest of a platform.
func (r *release) imageOf(l *layout, platform string) (descriptor, error) {
	system, arch, _ := strings.Cut(platform, "/")
	file, name := r.programOf(platform)
	program, err := os.ReadFile(file)
	if err != nil {
		return descriptor{}, err
	}
	var layer, packed bytes.Buffer
	// Any user may write into /tmp and /work.
	if err := r.tar(&layer, []entry{{name, 0o755, program}, {"tmp/", 0o1777, nil}, {"work/", 0o1777, nil}}); err != nil {
		return descriptor{}, err
	}
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(layer.Bytes()); err != nil {
		return descriptor{}, err
	}
	if err := z.Close(); err != nil {
		return descriptor{}, err
	}
	sum := sha256.Sum256(layer.Bytes())
	config, err := l.object(ofConfig, map[string]any{
		"os": system, "architecture": arch, "created": r.at.Format(time.RFC3339),
		"config": map[string]any{
			"Entrypoint": []string{"/" + name}, "WorkingDir": "/work",
			"Labels": map[string]string{
				"org.opencontainers.image.source":  "https://github.com/leakbench/leakbench",
				"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(sum[:])}},
	})
	if err != nil {
		return descriptor{}, err
	}
	layers := []descriptor{l.blob(ofLayer, packed.Bytes())}
	manifest, err := l.object(ofManifest, map[string]any{"schemaVersion": 2, "mediaType": ofManifest, "config": config, "layers": layers})
	manifest.Platform = map[string]string{"os": system, "architecture": arch}
	return manifest, err
}
