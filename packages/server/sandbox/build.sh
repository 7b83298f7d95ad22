#!/bin/sh
# Builds the sandbox program for both processors, into the directory of this file or the one that is given, and lists
# what was built with what in SHA256SUMS. The result is the same from any directory.
#
#   build.sh [DIRECTORY [PROCESSOR...]]        all processors unless some are given: x64 arm64
#
# It takes Debian's gcc, gcc-aarch64-linux-gnu and musl-dev. MUSL_ROOT_x64 and MUSL_ROOT_arm64 say where musl-dev is
# unpacked that is not installed; the default is the root.
set -eu

export LC_ALL=C
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
target=${1:-$here}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- x64 arm64
for processor; do
  case $processor in
    x64 | arm64) ;;
    *) echo "there is no processor $processor: x64 or arm64" >&2 && exit 2 ;;
  esac
done

WARNINGS='-Wall -Wextra -Werror -Wshadow -Wconversion -Wpointer-arith -Wstrict-prototypes -Wvla -Wformat=2'
CODE='-std=c11 -Os -fno-pie -fno-ident -fno-asynchronous-unwind-tables -ffunction-sections -fstack-protector-strong'
LINK='-static -no-pie -nostdlib -Wl,--gc-sections,--build-id=none,-z,noexecstack,-z,relro -s'


SOURCES='sandbox.c namespaces.c mounts.c entry.c landlock.c'
sums=$target/SHA256SUMS
: >"$sums.new"

for processor; do
  case $processor in
    x64) machine=x86_64 page=4096 ;;
    arm64) machine=aarch64 page=65536 ;;
  esac
  compiler=$machine-linux-gnu-gcc
  eval "root=\${MUSL_ROOT_$processor:-}"
  headers=$root/usr/include/$machine-linux-musl
  libraries=$root/usr/lib/$machine-linux-musl
  # shellcheck disable=SC2086
  (cd "$here" && "$compiler" $WARNINGS $CODE $LINK -nostdinc -isystem "$headers" \
    -isystem "$("$compiler" -print-file-name=include)" -ffile-prefix-map="$here"=. -Wl,-z,max-page-size=$page \
    -o "$target/sandbox-$processor" \
    "$libraries/crt1.o" "$libraries/crti.o" $SOURCES \
    -Wl,--start-group "$libraries/libc.a" -lgcc -Wl,--end-group "$libraries/crtn.o")
  chmod 755 "$target/sandbox-$processor"
  musl=$("$machine-linux-gnu-ar" p "$libraries/libc.a" version.lo | grep -aoE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
  {
    echo "# sandbox-$processor: $("$compiler" --version | head -n 1); $("$machine-linux-gnu-ld" --version | head -n 1);" \
      "musl $musl, libc.a $(sha256sum <"$libraries/libc.a" | cut -c 1-16)"
    (cd "$target" && sha256sum "sandbox-$processor")
  } >>"$sums.new"
done

# shellcheck disable=SC2086
(cd "$here" && sha256sum $SOURCES sandbox.h build.sh) >>"$sums.new"
mv "$sums.new" "$sums"

# The server executes what it knows the digest of, and nothing else.
[ "$target" = "$here" ] || exit 0
{
  echo '/** SHA-256 of the sandbox program for each processor. Written by `sandbox/build.sh`. */'
  echo 'export const PROGRAM_DIGESTS = {'
  for processor in x64 arm64; do
    echo "  $processor: '$(sed -n "s/  sandbox-$processor\$//p" "$sums")',"
  done
  echo '} as const;'
} >"$here/../src/sandbox/program/digests.ts"
