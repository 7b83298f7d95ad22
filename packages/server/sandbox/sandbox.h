/* What the parts of the sandbox program share. See sandbox.c for what it does. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How far a plan has come. Each step names the phases that it may run in, so that no plan, however wrong, mounts on the
 * host or starts a program in a sandbox that is only half made. */
enum phase {
  OUTSIDE = 1,    /* as the process was started */
  NAMESPACED = 2, /* in namespaces of its own, of mounts among them, which are private */
  BUILDING = 4,   /* the new root is there, and is being filled */
  PIVOTED = 8,    /* the new root is all that there is */
  INSIDE = 16,    /* the same, without any privilege */
  ANY_END = OUTSIDE | INSIDE,
};

/* The step that runs. */
struct run {
  enum phase phase;
  const char *step;
  /* Descriptor for status words; -1 when nobody listens. */
  int status_fd;
  /* Namespaces that were made, as flags of clone. */
  unsigned long namespaces;
  /* A ruleset that is not in force yet; no program may start with it. */
  int has_open_ruleset;
  mode_t program_umask;
};

extern struct run run;

/* Words of the plan. A plan that ends too early, or has something else than a number, fails. */
char *take_word(void);
long take_number(long lowest, long highest);
uint64_t take_flags(void);
mode_t take_mode(void);
/* The words of a list, which begins with their count, as a list that ends with a null pointer. */
char **take_list(long highest);
/* Gives the memory of the plan back, for a process that only waits from now on. */
void forget_plan(void);

/* Says `failed STEP ERRNO WORD` and ends. */
_Noreturn void fail(int error, const char *word);
/* Fails with errno when the result of a call is below 0. */
long check(long result, const char *word);
/* Says words, each with a zero at its end. */
void say(const char *first, const char *second, const char *third, const char *fourth);
/* Writes a number as text of at most 21 bytes, zero included. */
char *write_number(char *end, unsigned long number);
/* Copies text, its zero included, and gives the place of that zero. */
char *append(char *to, const char *text);
void *allocate(size_t bytes);

/* namespaces.c */
void step_namespaces(void);
void step_map_user(void);
void step_loopback(void);
void step_capabilities(void);
void step_no_new_privileges(void);
void step_init(void);
void step_parent_death(void);

/* mounts.c */
void step_root(void);
void step_bind(void);
void step_directory(void);
void step_tmpfs(void);
void step_proc(void);
void step_devpts(void);
void step_console(void);
void step_hide_file(void);
void step_hide_directory(void);
void step_symlink(void);
void step_attributes(void);
void step_pivot(void);

/* entry.c */
void step_entered(void);
void step_socket(void);
void step_hand_over(void);
void step_session(void);
void step_terminal(void);
void step_chdir(void);
void step_mode(void);
void step_descriptors(void);
void step_seccomp(void);
void step_cgroup(void);
void step_user(void);
void step_exec(void);
void step_done(void);

/* landlock.c */
void step_landlock_abi(void);
void step_landlock(void);
void step_landlock_path(void);
void step_landlock_restrict(void);

#endif
