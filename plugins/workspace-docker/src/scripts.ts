/** Environment of the scripts of this package, some of which run as user 0: programs can write to no folder of this path, which an image may have in its own. */
export const OWN_ENV = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", LD_LIBRARY_PATH: "", LD_PRELOAD: "" };
/** A container has none of it, because commands would inherit it. */
const ENVIRONMENT = `export ${Object.entries(OWN_ENV)
  .map(([name, value]) => `${name}=${value}`)
  .join(" ")}`;

/**
 * Process 1 of a container. It answers each line of its input by lines that end with one of a dot, and never starts a program: where a workspace has no process
 * left it still lists and ends them. It runs as user 0, so that programs cannot end it or attach to it. It ends with its input, as the container does.
 * Arguments: the owner of the folders of the workspace, and these.
 */
export const SUPERVISOR = `${ENVIRONMENT}
owner=$1; shift
chown -Rh "$owner" "$@" && chmod 755 "$@" && chmod 1777 /tmp || exit 1
# Podman copies what an image has there, such as a folder that all may write to.
chmod -R go-w /run 2>/dev/null
cgroup=/sys/fs/cgroup
if [ -f $cgroup/memory.stat ]; then
  cpu=$cgroup/cpu.stat memory=$cgroup/memory.stat kills=$cgroup/memory.events forks=$cgroup/pids.events
else
  cpu=$cgroup/cpuacct/cpuacct.usage memory=$cgroup/memory/memory.stat
  kills=$cgroup/memory/memory.oom_control forks=$cgroup/pids/pids.events
fi
count() {
  while read -r name value; do
    case $name in
      usage_usec|anon|rss|shmem|oom_kill) printf '+%s %s\\n' "$name" "$value" ;;
      max) [ "$1" = "$forks" ] && printf '+max %s\\n' "$value" ;;
      [0-9]*) printf '+usage_nsec %s\\n' "$name" ;;
    esac
  done <"$1"
}
while read -r verb arguments; do
  # Waits for the processes that lost their parents, without the start of a program.
  jobs >/dev/null
  case $verb in
    look|stop)
      # The list is read one by one: a program that forks and ends meanwhile would not be in it.
      [ $verb = look ] || kill -STOP -1
      for file in /proc/[0-9]*/stat; do read -r line <"$file" && printf '%s\\n' "$line"; done
      for file in "$cpu" "$memory" "$kills" "$forks"; do count "$file"; done ;;
    SIGKILL) kill -9 $arguments ;;
    SIGINT) kill -2 $arguments ;;
    SIGCONT) kill -CONT $arguments ;;
    *) continue ;;
  esac 2>/dev/null
  echo .
done`;

/** Prints the tools that an image lacks, and those of the paths $1... that are no folder with files, so that an empty file system may be there. */
export const PROBE = `${ENVIRONMENT}
for tool in cat chmod chown find head mkdir mkfifo mv readlink rm stat tar xargs; do command -v $tool >/dev/null || echo "lacks $tool"; done
for path; do
  if [ ! -e "$path" ] && [ ! -L "$path" ]; then echo "free $path"
  elif [ -d "$path" ] && [ ! -L "$path" ] && [ -z "$(find "$path" -mindepth 1 | head -n 1)" ]; then echo "free $path"; fi
done
echo probed`;

/** Prints the process id, then waits until the process is watched. */
const READY = `ulimit -c 0 && ulimit -f "$2" && printf '%s\\n' "$$" && read -r go || exit 1
[ -d "$3" ] || mkdir -p -- "$3" 2>/dev/null
cd -- "$3" 2>/dev/null || cd /
`;

/** Runs the command $1 with the largest size $2 of a file in blocks of 512 bytes, in the folder $3, and with its input if $4 is not empty. */
export const COMMAND = `${READY}[ -n "$4" ] || exec </dev/null
exec /bin/sh -c "$1"`;

/** Becomes the shell that the command $1 starts. Its input for commands is a FIFO without a name, which is never at its end. */
export const SHELL = `${READY}fifo=/tmp/.mrlm-$$
mkfifo -m 600 "$fifo" && exec 3<>"$fifo" || exec 3</dev/null
rm -f "$fifo"
exec 2>&1
eval "$1"`;

/** Writes to the input of the commands of the shell with the process id $5, which has it under several numbers while a command runs. */
export const INPUT = `${READY}for file in /proc/$5/fd/*; do
  case $(readlink "$file") in "/tmp/.mrlm-$5 "*) exec cat > "$file" ;; esac
done`;

/** Exit code of a script that finds no such file or folder, or may not write it. */
export const NONE = 66;

/** Prints the file $5. `cat` ends with 1 where it cannot read the file. */
export const READ = `${READY}[ -f "$5" ] && [ -r "$5" ] || exit ${NONE}
cat -- "$5"
code=$?
[ $code -ne 1 ] || exit ${NONE}
exit $code`;

/** Prints the names in the folder $5, which may include `.` and `..`, each with a NUL, an empty one, and a line for each with its mode and its size. */
export const LIST = `${READY}cd -- "$5" 2>/dev/null && [ -r . ] || exit ${NONE}
shown() { printf '%s\\0' "$@"; printf '\\0'; printf '%s\\0' "$@" | xargs -0 stat -c '%f %s' --; }
exists() { [ -e "$1" ] || [ -L "$1" ]; }
# A pattern that nothing matches stays.
set -- *
[ $# -gt 1 ] || exists "$1" || set --
for name in .*; do
  exists "$name" && set -- "$@" .*
  break
done
# 123: a name is gone.
[ $# -eq 0 ] || shown "$@" || [ $? -eq 123 ]`;

/** Writes its input beside the file $5, then renames it. Its mode is $6. */
export const WRITE = `${READY}folder=\${5%/*}
mkdir -p -- "$folder/" 2>/dev/null && [ -d "$5" ] && [ ! -L "$5" ] && exit ${NONE}
written=$folder/.mrlm-$$
if cat > "$written" && chmod "$6" "$written" && { [ ! -L "$5" ] || rm -f -- "$5"; } && mv -f -- "$written" "$5"; then exit 0; fi
rm -f -- "$written"
exit ${NONE}`;

/** Prints how many blocks and files each of the folders $5... has room for. */
export const ROOM = `${READY}shift 4
for path; do stat -f -c '%a %d' -- "$path" || exit ${NONE}; done`;

/** Prints a tarball of the folders $5... */
export const PACK = `${READY}cd / && shift 4
sparse=--sparse
tar --sparse --version >/dev/null 2>&1 || sparse=
tar -cf - $sparse "$@"
# 1: a file changed while it was read, by a process of the workspace.
[ $? -le 1 ]`;

/** Replaces what is in the folders $5... by the tarball of its input, and removes the shared memory. */
export const UNPACK = `${READY}cd / && shift 4
find "$@" $(ls -d dev/shm dev/mqueue 2>/dev/null) -mindepth 1 -maxdepth 1 -exec rm -rf -- {} + && exec tar -xpf -`;

/** Replaces what is in the folder $6 by the tarball of its input, for the owner $5. Podman has copied the files of the image there. */
export const FILL = `${READY}cd / && find "$6" -mindepth 1 -maxdepth 1 -exec rm -rf -- {} + && tar -xf - && chown -Rh "$5" "$6"`;
