/* The last steps: from a process that has everything to the program that is to get some of it. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLOSE_RANGE_ON_EXEC 4U
#define SECCOMP_FILTER 2
/* As long as a filter of the kernel can be, in instructions. */
#define MAX_FILTER_LENGTH 4096
#define INSTRUCTION_BYTES 8
/* Connections that wait to be accepted. */
#define BACKLOG 128
#define MAX_SOCKETS 64
#define MAX_GROUPS 65536
#define HIGHEST_ID 4294967294L

static int sockets[MAX_SOCKETS];
static size_t socket_count;

/* entered */
void step_entered(void) { say("entered", NULL, NULL, NULL); }

/* socket stream|datagram PORT: at the loopback address. */
void step_socket(void) {
  const char *kind = take_word();
  const long port = take_number(1, 65535);
  const int is_stream = strcmp(kind, "stream") == 0;
  if (!is_stream && strcmp(kind, "datagram") != 0) fail(EPROTO, kind);
  if (socket_count == MAX_SOCKETS) fail(EPROTO, kind);
  const int fd = (int)check(socket(AF_INET, (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0), kind);
  const struct sockaddr_in address = {
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
  };
  check(bind(fd, (const struct sockaddr *)&address, sizeof address), kind);
  if (is_stream) check(listen(fd, BACKLOG), kind);
  sockets[socket_count++] = fd;
}

/* hand-over DESCRIPTOR: gives away the sockets, in the order in which they were made. */
void step_hand_over(void) {
  const int door = (int)take_number(0, INT_MAX);
  const size_t bytes = socket_count * sizeof *sockets;
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof sockets)] = {0};
  char byte = 0;
  struct iovec vector = {.iov_base = &byte, .iov_len = 1};
  struct msghdr message = {
      .msg_iov = &vector,
      .msg_iovlen = 1,
      .msg_control = control,
      .msg_controllen = (socklen_t)CMSG_SPACE(bytes),
  };
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL || socket_count == 0) fail(EPROTO, "");
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = (socklen_t)CMSG_LEN(bytes);
  memcpy(CMSG_DATA(header), sockets, bytes);
  check(sendmsg(door, &message, MSG_NOSIGNAL), "");
  while (socket_count > 0) close(sockets[--socket_count]);
}

/* session: one that leads a session already stays its leader. */
void step_session(void) {
  if (setsid() < 0 && errno != EPERM) fail(errno, "");
}

/* terminal: makes the one at descriptor 0 the controlling one. */
void step_terminal(void) { check(ioctl(0, TIOCSCTTY, 0), ""); }

/* chdir PATH */
void step_chdir(void) {
  const char *path = take_word();
  check(chdir(path), path);
}

/* mode DESCRIPTOR MODE: who may open again what is open there, by its name in `/proc`. */
void step_mode(void) {
  const int fd = (int)take_number(0, INT_MAX);
  check(fchmod(fd, take_mode()), "");
}

/* descriptors FIRST: from that number on they do not reach the program. */
void step_descriptors(void) {
  const unsigned int first = (unsigned int)take_number(0, INT_MAX);
  check(syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_ON_EXEC), "");
}

static int parse_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  fail(EPROTO, "");
}

/* seccomp FILTER: instructions in hexadecimal digits. */
void step_seccomp(void) {
  const char *digits = take_word();
  const size_t length = strlen(digits);
  if (length == 0 || length % (INSTRUCTION_BYTES * 2) != 0 || length > (size_t)MAX_FILTER_LENGTH * INSTRUCTION_BYTES * 2)
    fail(EPROTO, "");
  unsigned char *filter = allocate(length / 2);
  for (size_t index = 0; index < length; index += 2)
    filter[index / 2] = (unsigned char)(parse_digit(digits[index]) << 4 | parse_digit(digits[index + 1]));
  const struct {
    unsigned short length;
    void *filter;
  } program = {(unsigned short)(length / 2 / INSTRUCTION_BYTES), filter};
  check(prctl(PR_SET_SECCOMP, SECCOMP_FILTER, &program), "");
}

/* cgroup FILE: joins the group whose `cgroup.procs` that is. */
void step_cgroup(void) {
  const char *path = take_word();
  const int fd = (int)check(open(path, O_WRONLY | O_CLOEXEC), path);
  check(write(fd, "0", 1), path);
  close(fd);
}

/* user UID GID COUNT GROUP... */
void step_user(void) {
  const uid_t user = (uid_t)take_number(0, HIGHEST_ID);
  const gid_t group = (gid_t)take_number(0, HIGHEST_ID);
  const long count = take_number(0, MAX_GROUPS);
  gid_t *groups = allocate((size_t)(count + 1) * sizeof *groups);
  for (long index = 0; index < count; index++) groups[index] = (gid_t)take_number(0, HIGHEST_ID);
  check(setgroups((size_t)count, groups), "groups");
  check(setresgid(group, group, group), "group");
  check(setresuid(user, user, user), "user");
}

/* exec PATH COUNT ARGUMENT... COUNT VARIABLE... */
void step_exec(void) {
  char digits[24];
  const char *path = take_word();
  char **arguments = take_list(INT_MAX);
  char **variables = take_list(INT_MAX);
  // Half of a restriction would be none.
  if (run.has_open_ruleset) fail(EPROTO, path);
  execve(path, arguments, variables);
  say("exec", write_number(digits + sizeof digits, (unsigned long)errno), NULL, NULL);
  _exit(127);
}

/* done: ends the plan without a program, for whoever only wants to know whether it works. */
void step_done(void) { _exit(0); }
