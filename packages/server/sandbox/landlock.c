/* Restrictions that a process puts on itself, and that need no namespaces. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_VERSION 1U
#define RULE_PATH_BENEATH 1

/* What a ruleset is about, as flags of each kind. A kernel that does not know one of them refuses it. */
struct ruleset {
  uint64_t files;
  uint64_t network;
  uint64_t scopes;
};

struct path_rule {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

static int ruleset_fd = -1;

/* landlock-abi: says what the kernel has, 0 for nothing. */
void step_landlock_abi(void) {
  char digits[24];
  const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
  say("landlock-abi", write_number(digits + sizeof digits, version < 0 ? 0 : (unsigned long)version), NULL, NULL);
}

/* landlock FILES NETWORK SCOPES: what is denied unless a rule allows it. */
void step_landlock(void) {
  struct ruleset ruleset;
  ruleset.files = take_flags();
  ruleset.network = take_flags();
  ruleset.scopes = take_flags();
  if (ruleset_fd >= 0) fail(EPROTO, "");
  ruleset_fd = (int)check(syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0U), "");
  run.has_open_ruleset = 1;
}

/* landlock-path ALLOWED PATH: what is allowed there, and below. */
void step_landlock_path(void) {
  struct path_rule rule;
  rule.allowed = take_flags();
  const char *path = take_word();
  if (ruleset_fd < 0) fail(EPROTO, path);
  const int place = (int)check(open(path, O_PATH | O_CLOEXEC), path);
  rule.parent = place;
  check(syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH, &rule, 0U), path);
  close(place);
}

/* landlock-restrict */
void step_landlock_restrict(void) {
  if (ruleset_fd < 0) fail(EPROTO, "");
  check(syscall(SYS_landlock_restrict_self, ruleset_fd, 0U), "");
  close(ruleset_fd);
  ruleset_fd = -1;
  run.has_open_ruleset = 0;
}
