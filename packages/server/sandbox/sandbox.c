/*
 * Carries out a plan: makes namespaces and mounts, gives up privileges, and becomes a program. It decides nothing. The
 * server writes the plan, which is a sequence of words with a zero at the end of each: a step, its arguments, the next
 * step. What came of it is told in such words, too:
 *
 *   entered                    the sandbox stands; what fails from here on is a matter of the program
 *   failed STEP ERRNO WORD     a step did not work; WORD is the argument that it is about, or empty
 *   exec ERRNO                 the program could not be executed
 *   landlock-abi NUMBER        what `landlock-abi` asked for
 *
 * Nothing more is told once the program runs: the descriptor closes with the call that starts it.
 *
 * Usage: sandbox PLAN_DESCRIPTOR STATUS_DESCRIPTOR
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* Largest plan, in bytes: ten thousand mounts of long paths, and the arguments of a program. */
#define MAX_PLAN_BYTES ((size_t)128 << 20)
#define FIRST_PLAN_BYTES ((size_t)64 << 10)

#define EXIT_FAILED 127

struct run run = {.phase = OUTSIDE, .step = "start", .status_fd = -1};

static struct {
  char *memory;
  size_t size;
  char *next;
  char *end;
} plan;

static const struct {
  const char *name;
  int phases;
  void (*carry_out)(void);
} steps[] = {
    {"parent-death", OUTSIDE, step_parent_death},
    {"cgroup", OUTSIDE, step_cgroup},
    {"user", OUTSIDE, step_user},
    {"landlock-abi", OUTSIDE, step_landlock_abi},
    {"landlock", OUTSIDE, step_landlock},
    {"landlock-path", OUTSIDE, step_landlock_path},
    {"landlock-restrict", OUTSIDE, step_landlock_restrict},
    {"namespaces", OUTSIDE, step_namespaces},
    {"map-user", NAMESPACED, step_map_user},
    {"loopback", NAMESPACED, step_loopback},
    {"root", NAMESPACED, step_root},
    {"bind", BUILDING, step_bind},
    {"directory", BUILDING, step_directory},
    {"tmpfs", BUILDING, step_tmpfs},
    {"proc", BUILDING, step_proc},
    {"devpts", BUILDING, step_devpts},
    {"console", BUILDING, step_console},
    {"hide-file", BUILDING, step_hide_file},
    {"hide-directory", BUILDING, step_hide_directory},
    {"symlink", BUILDING, step_symlink},
    {"attributes", BUILDING, step_attributes},
    {"pivot", BUILDING, step_pivot},
    {"capabilities", OUTSIDE | PIVOTED, step_capabilities},
    {"no-new-privileges", ANY_END, step_no_new_privileges},
    {"init", INSIDE, step_init},
    {"entered", ANY_END, step_entered},
    {"socket", ANY_END, step_socket},
    {"hand-over", ANY_END, step_hand_over},
    {"session", ANY_END, step_session},
    {"terminal", ANY_END, step_terminal},
    {"chdir", ANY_END, step_chdir},
    {"mode", ANY_END, step_mode},
    {"descriptors", ANY_END, step_descriptors},
    {"seccomp", ANY_END, step_seccomp},
    {"exec", ANY_END, step_exec},
    {"done", ANY_END, step_done},
};

void say(const char *first, const char *second, const char *third, const char *fourth) {
  const char *words[] = {first, second, third, fourth};
  struct iovec parts[4];
  int count = 0;
  for (; count < 4 && words[count] != NULL; count++) {
    // The call does not write to what it sends.
    parts[count].iov_base = (void *)(uintptr_t)words[count];
    parts[count].iov_len = strlen(words[count]) + 1;
  }
  // Whoever does not listen any more has no use for it.
  if (run.status_fd >= 0 && writev(run.status_fd, parts, count) < 0) return;
}

char *write_number(char *end, unsigned long number) {
  char *at = end - 1;
  *at = '\0';
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  return at;
}

char *append(char *to, const char *text) {
  while ((*to = *text++) != '\0') to++;
  return to;
}

_Noreturn void fail(int error, const char *word) {
  char digits[24];
  say("failed", run.step, write_number(digits + sizeof digits, (unsigned long)error), word);
  _exit(EXIT_FAILED);
}

long check(long result, const char *word) {
  if (result < 0) fail(errno, word);
  return result;
}

void *allocate(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail(errno, "");
  return memory;
}

char *take_word(void) {
  char *word = plan.next;
  if (word == plan.end) fail(EPROTO, "");
  // The last byte of a plan is a zero.
  plan.next = word + strlen(word) + 1;
  return word;
}

/* A number of digits, which is not greater than `highest`. */
static uint64_t parse_number(const char *word, unsigned base, uint64_t highest) {
  uint64_t number = 0;
  if (*word == '\0') fail(EPROTO, word);
  for (const char *at = word; *at != '\0'; at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    // What is below '0' is beyond every digit, too.
    if (digit >= base || digit > highest || number > (highest - digit) / base) fail(EPROTO, word);
    number = number * base + digit;
  }
  return number;
}

long take_number(long lowest, long highest) {
  const char *word = take_word();
  const long number = (long)parse_number(word, 10, (uint64_t)highest);
  if (number < lowest) fail(EPROTO, word);
  return number;
}

uint64_t take_flags(void) { return parse_number(take_word(), 10, UINT64_MAX); }

mode_t take_mode(void) { return (mode_t)parse_number(take_word(), 8, 07777); }

char **take_list(long highest) {
  const long count = take_number(0, highest);
  // Each word has a zero at least, so that a count cannot ask for more memory than its plan allows.
  if (count > plan.end - plan.next) fail(EPROTO, "");
  char **list = allocate((size_t)(count + 1) * sizeof *list);
  for (long index = 0; index < count; index++) list[index] = take_word();
  return list;
}

void forget_plan(void) {
  munmap(plan.memory, plan.size);
  plan.memory = plan.next = plan.end = NULL;
  plan.size = 0;
}

static void read_plan(int fd) {
  size_t length = 0;
  plan.size = FIRST_PLAN_BYTES;
  plan.memory = allocate(plan.size);
  for (;;) {
    if (length == plan.size) {
      if (plan.size >= MAX_PLAN_BYTES) fail(E2BIG, "");
      void *moved = mremap(plan.memory, plan.size, plan.size * 2, MREMAP_MAYMOVE);
      if (moved == MAP_FAILED) fail(errno, "");
      plan.memory = moved;
      plan.size *= 2;
    }
    const ssize_t bytes = read(fd, plan.memory + length, plan.size - length);
    if (bytes < 0 && errno == EINTR) continue;
    if (check(bytes, "") == 0) break;
    length += (size_t)bytes;
  }
  close(fd);
  if (length == 0 || plan.memory[length - 1] != '\0') fail(EPROTO, "");
  plan.next = plan.memory;
  plan.end = plan.memory + length;
}

static void carry_out(const char *name) {
  for (size_t index = 0; index < sizeof steps / sizeof *steps; index++) {
    if (strcmp(steps[index].name, name) != 0) continue;
    run.step = steps[index].name;
    if ((steps[index].phases & (int)run.phase) == 0) fail(EPROTO, "");
    steps[index].carry_out();
    return;
  }
  run.step = "start";
  fail(EPROTO, name);
}

int main(int argc, char **argv) {
  if (argc != 3) return EXIT_FAILED;
  const int plan_fd = (int)parse_number(argv[1], 10, INT_MAX);
  run.status_fd = (int)parse_number(argv[2], 10, INT_MAX);
  check(fcntl(run.status_fd, F_SETFD, FD_CLOEXEC), argv[2]);
  prctl(PR_SET_NAME, "sandbox");
  read_plan(plan_fd);
  for (;;) {
    run.step = "end";
    carry_out(take_word());
  }
}
