import os
import subprocess

os.makedirs("/app/service")
clock = 1_720_000_000
BASE = {"port": "80", "host": "localhost", "retries": "3", "timeout": "10"}


def git(*args):
    who = {"NAME": "Dev", "EMAIL": "dev@example.org", "DATE": f"{clock} +0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    subprocess.run(["git", "-C", "/app/service", *args], check=True, env=env | {"PATH": os.environ["PATH"], "HOME": "/nonexistent"})


def commit(message, settings, text):
    global clock
    clock += 600
    with open("/app/service/settings.ini", "w") as file:
        file.write("[server]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items()))
    with open("/app/service/load.py", "w") as file:
        file.write(text)
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


LOAD = '''import configparser


def load(path):
    parser = configparser.ConfigParser()
    parser.read(path)
    section = parser["server"]
    return {"host": section["host"], "port": section.getint("port"), "retries": section.getint("retries"), "timeout": section.getint("timeout")}
'''
MILLISECONDS = LOAD.replace('"timeout": section.getint("timeout")', '"timeout_ms": section.getint("timeout_ms")')
TLS = LOAD.replace('"timeout": section.getint("timeout")', '"timeout": section.getint("timeout"), "tls": section.getboolean("tls")')
git("init", "--quiet", "--initial-branch=main")
git("config", "user.name", "Dev")
git("config", "user.email", "dev@example.org")
commit("Add settings", BASE, LOAD)
git("checkout", "--quiet", "-b", "tls")
commit("Offer TLS", {**BASE, "port": "443", "tls": "yes"}, TLS)
commit("Wait longer, as TLS needs it", {**BASE, "port": "443", "timeout": "25", "tls": "yes"}, TLS)
git("checkout", "--quiet", "main")
commit("State the timeout in milliseconds", {"port": "80", "host": "localhost", "retries": "3", "timeout_ms": "10000"}, MILLISECONDS)
commit("Try five times", {"port": "80", "host": "localhost", "retries": "5", "timeout_ms": "10000"}, MILLISECONDS)
