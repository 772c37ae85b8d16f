CORRECT = "80006debb832abce0ca4c2c57640474e57fb2540"
expect(read("/app/first-bad.txt").strip() == CORRECT, "/app/first-bad.txt does not have the hash of the commit")
