import random

rng = random.Random(1)
PATHS = ["/", "/login", "/api/items", "/api/items?id=500", "/static/app.js"]
with open("/app/access.log", "w") as log:
    for at in range(300):
        status = rng.choice([200, 200, 200, 301, 404, 500, 503])
        log.write(f'10.0.0.{rng.randrange(9)} - - [0{1 + at // 100}/Mar/2026:10:00:{at % 60:02}] "GET {rng.choice(PATHS)} HTTP/1.1" {status} {rng.randrange(900)}\n')
