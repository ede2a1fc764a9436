package live

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
)

var compilerVersion = regexp.MustCompile(`Cuda compilation tools, release [\d.]+, V(\d+\.\d+\.\d+)`)

// readCompiler asks nvcc for its version: the one that PyTorch builds extensions with, which is that of CUDA_HOME or CUDA_PATH, else the first
// in PATH, else that of /usr/local/cuda (torch/utils/cpp_extension.py). That there is none is no failure.
func (s *system) readCompiler(ctx context.Context, m *Machine) error {
	path := s.compiler()
	if path == "" {
		return nil
	}
	out, err := s.tool(ctx, path, "nvcc", "--version")
	if err != nil {
		return err
	}
	m.Compiler, m.CompilerPath = submatch(compilerVersion, string(out)), path
	if m.Compiler == "" {
		return fmt.Errorf("%s --version says nothing known: %q", path, firstLine(out))
	}
	return nil
}

// compiler is where nvcc is, "" when it is nowhere.
func (s *system) compiler() string {
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if home, _ := s.variable(variable); home != "" {
			path := filepath.Join(home, "bin", "nvcc")
			if !executable(path) {
				return ""
			}
			return path
		}
	}
	if path, err := s.find("nvcc"); err == nil {
		return path
	}
	if path := s.path("/usr/local/cuda/bin/nvcc"); executable(path) {
		return path
	}
	return ""
}
