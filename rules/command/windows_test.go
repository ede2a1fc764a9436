package command

import "testing"

// TestSay: a line for a POSIX shell is said as the shells of Windows take it, and not at all where they have nothing for it.
func TestSay(t *testing.T) {
	for line, want := range map[string]struct{ cmd, powerShell string }{
		"pip install 'networkx<2.4'":                          {`pip install "networkx<2.4"`, `pip install "networkx<2.4"`},
		"pip install torch==2.6.0":                            {"pip install torch==2.6.0", "pip install torch==2.6.0"},
		"pip install x   # with y & z":                        {"pip install x   & rem with y  z", "pip install x   # with y & z"},
		"A=1 python3 train.py --lr 0.1":                       {`set "A=1" && python train.py --lr 0.1`, `$env:A="1"; python train.py --lr 0.1`},
		"export A=1 B='x y'":                                  {`set "A=1" && set "B=x y"`, `$env:A="1"; $env:B="x y"`},
		"unset A":                                             {"set A=", "$env:A=$null"},
		`python -c 'import x; print(getattr(x, "v", ""))'`:    {`python -c "import x; print(getattr(x, 'v', ''))"`, `python -c "import x; print(getattr(x, 'v', ''))"`},
		"which -a python":                                     {"where.exe python", "where.exe python"},
		"ls -l data/train":                                    {`dir data\train`, `dir data\train`},
		"cp a.yaml b.yaml":                                    {"copy a.yaml b.yaml", "copy a.yaml b.yaml"},
		"cp -r data old/data":                                 {`xcopy /e /i data old\data`, `copy data old\data -Recurse`},
		"rm -rf build dist":                                   {"rmdir /s /q build dist", "rm -Recurse -Force build, dist"},
		"grep -rnE 'a|b' --include=*.py .":                    {`powershell -c "ls '.' -Recurse -Include *.py | sls 'a|b'"`, `ls '.' -Recurse -Include *.py | sls 'a|b'`},
		"pip list 2>/dev/null | grep -iE 'torch|cuda' | head": {`pip list 2>NUL | findstr /i "torch cuda"`, `pip list 2>$null | findstr /i "torch cuda"`},
		"git pull && git submodule update --init":             {"git pull && git submodule update --init", "git pull; git submodule update --init"},
		`grep -rn '\bnode\[' --include=*.py . | head`:         {`powershell -c "ls '.' -Recurse -Include *.py | sls '\bnode\['"`, `ls '.' -Recurse -Include *.py | sls '\bnode\['`},
		`grep -rn node\[ .`:                                   {},
		"grep -rn a --include=*.cpp --include=*.h src":        {`powershell -c "ls 'src' -Recurse -Include *.cpp,*.h | sls 'a'"`, `ls 'src' -Recurse -Include *.cpp,*.h | sls 'a'`},
		"nvidia-smi; ollama ps":                               {"nvidia-smi & ollama ps", "nvidia-smi; ollama ps"},
		"grep -n -A60 Traceback FULL.log":                     {},
		"ls -l /dev/dri":                                      {},
		"./webui.sh --no-half":                                {},
		"sudo apt-get install -y ffmpeg":                      {},
		"for f in *; do echo $f; done":                        {},
		"echo $HOME":                                          {},
		"ls ~/data":                                           {},
		"find . -name x":                                      {},
		"pip list | grep 'a.b'":                               {},
		"cat <<'E' > x\na\nE":                                 {},
		`python -c 'print("%d %s" % (1, "a"))'`:               {},
	} {
		for shell, want := range map[WindowsShell]string{Cmd: want.cmd, PowerShell: want.powerShell} {
			if got, ok := shell.Say(line); got != want || ok != (want != "") {
				t.Errorf("%s in %s is %q, want %q", line, shell, got, want)
			}
		}
	}
}

// FuzzSay: whatever a line is, what is said of it does not crash.
func FuzzSay(f *testing.F) {
	f.Add("A=1 python -c 'print(1)' 2>/dev/null | grep -i x | head   # why")
	f.Fuzz(func(_ *testing.T, line string) {
		Cmd.Say(line)
		PowerShell.Say(line)
	})
}
