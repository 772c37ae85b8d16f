CORRECT = {"refs/heads/main": "91bbf430a0587174eff26e8452bc81816ee1ad96", "refs/heads/export": "93397ab2e6f17becfb68b12e16966bfde573d1d9", "refs/heads/stash": "572586dbf81b9510e64a4b7be861fe8137e6f220"}
found = dict(line.split() for line in git("/app/project", "for-each-ref", "--format=%(refname) %(objectname)").splitlines())
expect(found == CORRECT, f"the references are {found}")
expect(read("/app/project/.git/HEAD").strip() == "ref: refs/heads/main", "main is not checked out")
expect(read("/app/project/parser") == "parse v2\n" and read("/app/project/readme") == "project\n", "the working tree was changed")
expect(set(os.listdir("/app/project")) == {".git", "parser", "readme"}, "the working tree has other files")
