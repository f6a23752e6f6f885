# Shared by ./run, ./test and .ci/run, which source it: steps that are quiet as long as they succeed.
# Everything goes to standard error: standard output belongs to the program that is run.
# The wheel of the Python package is built elsewhere, of what the build has compiled: ccache finds it so.
export CCACHE_NOHASHDIR=1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }

# quietly LOG COMMAND...: appends what the command says to LOG, and shows it if the command fails.
quietly() {
  local log=$1 begin status=0
  shift
  mkdir -p "$(dirname "$log")"
  begin=$(($(wc -c 2>/dev/null <"$log" || echo 0) + 1))
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  [ "$status" = 0 ] || tail -c "+$begin" "$log" >&2
  return "$status"
}

# configure DIR OPTION...: writes the build files of a build directory, if it is new or the options changed.
configure() {
  local dir=$1 options
  shift
  options="$root $*"
  [ -e "$dir/build.ninja" ] && [ "$(cat "$dir/options" 2>/dev/null)" = "$options" ] && return 0
  quietly "$dir/setup.log" cmake -S "$root" -B "$dir" -G Ninja "$@" || return 1
  printf '%s' "$options" >"$dir/options"
}

# build DIR WHAT TARGET...: builds, and says so as soon as there is something to do.
build() {
  local dir=$1 what=$2
  shift 2
  [ -e "$dir/.ninja_log" ] || say "building $what"
  quietly "$dir/setup.log" ninja_and_tell "$dir" "$what" "$@"
}

ninja_and_tell() {
  local dir=$1 what=$2 line told=no
  shift 2
  [ -e "$dir/.ninja_log" ] || told=yes
  ninja -C "$dir" "$@" | while IFS= read -r line; do
    printf '%s\n' "$line"
    if [ "$told" = no ] && [[ $line == *" Building "* ]]; then
      told=yes
      say "building $what" 2>&3
    fi
  done
}
exec 3>&2  # past the redirections of `quietly`
