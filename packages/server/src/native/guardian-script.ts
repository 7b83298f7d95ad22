import { MARK_DIGITS } from './tree-marks.js';

/** Looks into a cgroup, 20 ms apart, after which whoever is left in it cannot be killed. */
const MAX_CGROUP_LOOKS = 100;

/** Times that processes are looked for which were started since a walk began, until nobody new is there. */
const MAX_CATCHES = 2_000;

/** Numbers that are tried one by one, the last that were given; where more were, the next walk has the others. */
const MAX_NUMBERS = 1_000;

/**
 * The program of the guardian, for any POSIX shell. It reads `+<leader>` and `-<leader>` lines and, when its input ends,
 * kills what is left: every process whose session or group one of the leaders has or had, and every descendant of those.
 *
 * A set is kept as shell variables, because a lookup by name stays fast with thousands of members: `g<n>` marks a session
 * to end, `v<pid>` a process that was found. Processes are stopped as they are found, so that none forks away from a
 * walk; only when a walk finds nobody new are they killed, because parentage is lost with the parent. A walk that finds
 * nobody at all is the end; both loops are bounded against a system in which processes appear faster than they are found.
 * A last line without its line break is cut off, and is not read as a number.
 *
 * A process that goes on under another number all the time, by starting a child and ending, is in no walk. So behind each
 * walk come the numbers that were given since it began, by builtins alone, which start nobody.
 *
 * Its first argument is a cgroup in which everybody is to be ended too, and which is removed then. Nobody in there runs
 * while they are killed; the walks come after it, for those who were moved to another cgroup. The second is what the marks
 * of those begin with who are found by them: \`m<pid>\` is one of these.
 */
export const GUARDIAN_SCRIPT = `
trap '' HUP INT TERM QUIT PIPE
while IFS= read -r line; do
  case $line in
    +*) eval "g\${line#+}=1" ;;
    -*) unset "g\${line#-}" ;;
  esac
done

consider() {
  eval "seen=\\\${v$1-} hit=\\\${g$3-}\\\${g$4-}\\\${v$2-}\\\${m$1-}"
  if [ -z "$seen" ] && [ -n "$hit" ]; then
    eval "v$1=1"
    victims="$victims $1"
    kill -STOP "$1"
  fi
}

find_marked() {
  for file in $marked; do unset "m$file"; done
  marked=
  [ -n "$marks" ] || return
  for file in $(grep -l "^Max file locks  *$marks[0-9]\\{${MARK_DIGITS}\\} " /proc/[0-9]*/limits); do
    file=\${file#/proc/}
    file=\${file%/limits}
    marked="$marked $file"
    eval "m$file=1"
  done
}

walk() {
  if [ -r /proc/self/stat ]; then
    find_marked
    for file in /proc/[0-9]*/stat; do
      last=
      while IFS= read -r line; do last=$line; done <"$file"
      pid=\${file#/proc/}
      set -- \${last##*) }
      case \${1-Z} in Z | X) continue ;; esac
      consider "\${pid%/stat}" "$2" "$3" "$4"
    done
  else
    set -- $(/bin/ps -A -o pid= -o ppid= -o pgid=)
    while [ $# -ge 3 ]; do
      consider "$1" "$2" "$3" "$3"
      shift 3
    done
  fi
}

note_newest() {
  line=
  [ -r /proc/loadavg ] && IFS= read -r line </proc/loadavg
  newest=\${line##* }
}

is_marked() {
  line=
  while IFS= read -r line; do
    case $line in "Max file locks "*) break ;; esac
  done <"/proc/$1/limits"
  case $line in "Max file locks "*" $marks"${'[0-9]'.repeat(MARK_DIGITS)}" "*) return 0 ;; esac
  return 1
}

catch_new() {
  [ -n "$marks" ] && [ -n "$newest" ] || return
  catches=0
  while [ "$catches" -lt ${MAX_CATCHES} ]; do
    catches=$((catches + 1))
    low=$newest
    note_newest
    [ "$newest" != "$low" ] || return
    # All numbers have been given once, or too many: those before are in the next walk, if they are there.
    [ "$newest" -gt "$low" ] || low=0
    [ $((newest - low)) -le ${MAX_NUMBERS} ] || low=$((newest - ${MAX_NUMBERS}))
    pid=$newest
    while [ "$pid" -gt "$low" ]; do
      eval "seen=\\\${v$pid-}"
      if [ -z "$seen" ] && [ -r "/proc/$pid/limits" ] && is_marked "$pid"; then
        kill -STOP "$pid"
        eval "v$pid=1"
        victims="$victims $pid"
      fi
      pid=$((pid - 1))
    done
  done
}

find_members() {
  for group in "$1"/*/; do
    [ -d "$group" ] || continue
    while read -r thread; do members="$members $thread"; done <"$group/cgroup.threads"
    find_members "\${group%/}"
  done
}

remove_groups() {
  for group in "$1"/*/; do
    [ -d "$group" ] || continue
    rmdir "$group" || remove_groups "\${group%/}"
  done
  rmdir "$1"
}

marks=\${2-} marked=
if [ -d "\${1-}" ]; then
  echo 1 >"$1/cgroup.freeze"
  looks=0
  while [ "$looks" -lt ${MAX_CGROUP_LOOKS} ]; do
    looks=$((looks + 1))
    members=
    find_members "$1"
    [ -n "$members" ] || break
    kill -KILL $members
    sleep 0.02 || sleep 1
  done
  echo 0 >"$1/cgroup.freeze"
  remove_groups "$1"
fi

for attempt in 1 2 3 4 5; do
  victims=
  for depth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    before=$victims
    note_newest
    walk
    catch_new
    [ "$victims" != "$before" ] || break
  done
  [ -n "$victims" ] || break
  kill -KILL $victims
done
`;
