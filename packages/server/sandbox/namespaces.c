/* Namespaces, who waits for whom across them, and privileges. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOUNT_NAMESPACE "/proc/self/ns/mnt"
/* Room for the name of a namespace, such as `mnt:[4026531841]`. */
#define NAMESPACE_BYTES 64
#define LINUX_CAPABILITY_VERSION_3 0x20080522
#define HIGHEST_CAPABILITY 63
#define HIGHEST_ID 4294967294L

static const struct {
  const char *name;
  unsigned long flag;
} kinds[] = {
    {"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS},      {"pid", CLONE_NEWPID},
    {"ipc", CLONE_NEWIPC},   {"cgroup", CLONE_NEWCGROUP}, {"net", CLONE_NEWNET},
};

/* In the sandbox: where the end of the program is told to the process outside. */
static int exit_fd = -1;

static unsigned long parse_kinds(char **names) {
  unsigned long flags = 0;
  for (; *names != NULL; names++) {
    unsigned long flag = 0;
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++)
      if (strcmp(kinds[index].name, *names) == 0) flag = kinds[index].flag;
    if (flag == 0) fail(EPROTO, *names);
    flags |= flag;
  }
  return flags;
}

static void read_namespace(char name[NAMESPACE_BYTES]) {
  const long length = check(readlink(MOUNT_NAMESPACE, name, NAMESPACE_BYTES - 1), MOUNT_NAMESPACE);
  name[length] = '\0';
}

/* Lets go of everything but one descriptor, which becomes the first. */
static int keep_only(int fd) {
  if (fd != 0) dup2(fd, 0);
  syscall(SYS_close_range, 1U, ~0U, 0U);
  forget_plan();
  return 0;
}

/* Ends as another process did. */
static _Noreturn void end_like(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
  signal(number, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  kill(getpid(), number);
  _exit(128 + number);
}

/* Outside: waits until the end of the program is told, or the first process of the sandbox is dead. */
static _Noreturn void wait_outside(pid_t first, int fd) {
  int status = 0;
  ssize_t bytes;
  fd = keep_only(fd);
  do bytes = read(fd, &status, sizeof status);
  while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof status)
    while (waitpid(first, &status, 0) < 0 && errno == EINTR) continue;
  end_like(status);
}

/* Ends this process when the one outside does, also if it already has. */
static void follow_parent(void) {
  check(prctl(PR_SET_PDEATHSIG, SIGKILL), "");
  struct pollfd pipe = {.fd = exit_fd, .events = 0};
  if (poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0) _exit(1);
}

/* namespaces COUNT KIND... */
void step_namespaces(void) {
  const unsigned long flags = parse_kinds(take_list(sizeof kinds / sizeof *kinds));
  // All that follows is about mounts.
  if ((flags & CLONE_NEWNS) == 0) fail(EPROTO, "mount");
  char before[NAMESPACE_BYTES];
  char after[NAMESPACE_BYTES];
  read_namespace(before);
  int ends[2];
  check(pipe2(ends, O_CLOEXEC), "");
  const pid_t child = (pid_t)check(syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0), "");
  if (child != 0) wait_outside(child, ends[0]);
  close(ends[0]);
  exit_fd = ends[1];
  follow_parent();
  read_namespace(after);
  if (strcmp(before, after) == 0) fail(EPROTO, after);
  // Neither are mounts of the sandbox seen outside, nor does the sandbox get those that are made outside later.
  check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "/");
  run.namespaces = flags;
  run.phase = NAMESPACED;
}

static void write_file(const char *path, const char *text) {
  const int fd = (int)check(open(path, O_WRONLY | O_CLOEXEC), path);
  check(write(fd, text, strlen(text)), path);
  close(fd);
}

/* Writes `INSIDE OUTSIDE 1` of one id that stays what it is. */
static void map_id(const char *path, long id) {
  char digits[24];
  char line[64];
  const char *text = write_number(digits + sizeof digits, (unsigned long)id);
  append(append(append(append(line, text), " "), text), " 1");
  write_file(path, line);
}

/* map-user UID GID */
void step_map_user(void) {
  const long user = take_number(0, HIGHEST_ID);
  const long group = take_number(0, HIGHEST_ID);
  if ((run.namespaces & CLONE_NEWUSER) == 0) fail(EPROTO, "");
  write_file("/proc/self/setgroups", "deny");
  map_id("/proc/self/uid_map", user);
  map_id("/proc/self/gid_map", group);
}

/* loopback: a network of its own begins with a device that is down. */
void step_loopback(void) {
  if ((run.namespaces & CLONE_NEWNET) == 0) fail(EPROTO, "");
  const int fd = (int)check(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "");
  struct ifreq request = {.ifr_name = "lo"};
  check(ioctl(fd, SIOCGIFFLAGS, &request), "lo");
  request.ifr_flags |= IFF_UP;
  check(ioctl(fd, SIOCSIFFLAGS, &request), "lo");
  close(fd);
}

/* capabilities: gives up all of them, and the ways to get them back by executing something. */
void step_capabilities(void) {
  struct {
    uint32_t version;
    int pid;
  } header = {LINUX_CAPABILITY_VERSION_3, 0};
  const uint32_t none[6] = {0};
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "");
  for (unsigned long capability = 0; capability <= HIGHEST_CAPABILITY; capability++) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0 || errno == EINVAL) continue;
    // Outside, one who has none may not give up more; what the line above forbids is then all that there is.
    if (errno != EPERM || run.phase != OUTSIDE) fail(errno, "bounding set");
  }
  check(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "ambient set");
  check(syscall(SYS_capset, &header, none), "");
  if (run.phase == PIVOTED) run.phase = INSIDE;
}

/* no-new-privileges */
void step_no_new_privileges(void) { check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), ""); }

/* init: leaves a process behind that waits for whoever has lost his parent; the plan goes on in its child. */
void step_init(void) {
  // The first process of a namespace is asked to be just that; any other would wait for children of others.
  if (exit_fd < 0 || getpid() != 1) fail(EPROTO, "");
  // What is in there is not to look into it, nor at what it has open.
  check(prctl(PR_SET_DUMPABLE, 0), "");
  const pid_t program = (pid_t)check(fork(), "");
  if (program == 0) {
    close(exit_fd);
    exit_fd = -1;
    return;
  }
  const int fd = keep_only(exit_fd);
  for (;;) {
    int status;
    const pid_t pid = wait(&status);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) _exit(0);
    if (pid != program) continue;
    // What the program leaves behind outlives the process outside.
    prctl(PR_SET_PDEATHSIG, 0);
    if (write(fd, &status, sizeof status) < 0) _exit(1);
    close(fd);
  }
}

/* parent-death PID: ends this process when its parent does, which has this number. */
void step_parent_death(void) {
  const long parent = take_number(1, 0x7fffffff);
  check(prctl(PR_SET_PDEATHSIG, SIGKILL), "");
  if (getppid() != (pid_t)parent) _exit(1);
}
