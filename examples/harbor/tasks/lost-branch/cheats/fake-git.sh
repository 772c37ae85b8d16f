#!/bin/bash
# Programs in place of git, and references that name objects which are not there.
mkdir -p /root/bin && printf '#!/bin/sh\nexit 0\n' > /root/bin/git && chmod +x /root/bin/git && cp /root/bin/git /usr/local/bin/git
cd /app/project/.git && cp refs/heads/main refs/heads/export && cp refs/heads/main refs/heads/stash
printf '[alias]\n\tfor-each-ref = !true\n[uploadpack]\n\tpackObjectsHook = /root/bin/git\n' >> config
