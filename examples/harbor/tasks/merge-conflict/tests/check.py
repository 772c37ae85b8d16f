import json

MAIN, TLS = "aa44e14224fd3458f3169de2697136017edb960f", "1476cdc8deb4247059fd7b2dee8b6b145a784698"
parents = git("/app/service", "rev-list", "--parents", "-n", "1", "refs/heads/main").split()[1:]
expect(parents == [MAIN, TLS], f"the parents of main are {parents}, not {[MAIN, TLS]}")
expect(git("/app/service", "rev-parse", "refs/heads/tls").strip() == TLS, "the branch tls was moved")
expect(read("/app/service/.git/HEAD").strip() == "ref: refs/heads/main", "main is not checked out")
names = git("/app/service", "ls-tree", "-r", "--name-only", "refs/heads/main").split()
expect(names == ["load.py", "settings.ini"], f"main has the files {names}")
expect(set(os.listdir("/app/service")) - {".git", "__pycache__"} == set(names), "the working tree has other files")
files = {name: git("/app/service", "show", f"refs/heads/main:{name}") for name in names}
for name, text in files.items():
    expect(read(f"/app/service/{name}") == text, f"{name} of the working tree is not that of main")
root = fresh({**files, "other.ini": "[server]\nhost = example.org\nport = 8443\nretries = 9\ntimeout_ms = 125\ntls = off\n"})
for name, correct in {
    "settings.ini": {"host": "localhost", "port": 443, "retries": 5, "timeout_ms": 25000, "tls": True},
    "other.ini": {"host": "example.org", "port": 8443, "retries": 9, "timeout_ms": 125, "tls": False},
}.items():
    out = output(["/usr/bin/python3", "-B", "-c", f"import json, load; print(json.dumps(load.load({name!r}), sort_keys=True))"], cwd=root)
    expect(out == json.dumps(correct, sort_keys=True) + "\n", f"load of {name} returned {out}, not {correct}")
