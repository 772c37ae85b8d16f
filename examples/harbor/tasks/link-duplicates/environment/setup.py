import os

os.makedirs("/app/example/sub")
for name, text in {"a": "same\n", "b": "other\n", "sub/a": "same\n", "sub/c": "same\n"}.items():
    with open(f"/app/example/{name}", "w") as file:
        file.write(text)
