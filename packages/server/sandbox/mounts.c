/*
 * The file system of a sandbox. While it is made, a small file system of its own is the root, with the host's in `old`
 * and the sandbox's in `new`; everything that is empty in a sandbox is a directory or file of the same one. Paths of the
 * plan are resolved without following any link, on both sides: one that has become a link meanwhile fails.
 */
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of headers of the kernel, which musl does not come with. */
#define RESOLVE_NO_SYMLINKS 0x04
#define RESOLVE_IN_ROOT 0x10
#define TREE_CLONE 1
#define TREE_CLOEXEC O_CLOEXEC
#define TREE_RECURSIVE 0x8000
#define SOURCE_IS_FD 0x00000004
#define TARGET_IS_FD 0x00000040
#define CONFIG_SET_STRING 1
#define CONFIG_CREATE 6
#define FS_CLOEXEC 1

/* Tries of a lookup that somebody's renaming disturbs. */
#define MAX_TRIES 100

struct open_request {
  uint64_t flags;
  uint64_t mode;
  uint64_t resolve;
};

struct attributes {
  uint64_t set;
  uint64_t clear;
  uint64_t propagation;
  uint64_t user_namespace;
};

static const struct {
  const char *name;
  uint64_t flag;
} attribute_names[] = {
    {"read-only", 0x1},
    {"no-set-user", 0x2},
    {"no-devices", 0x4},
    {"no-programs", 0x8},
};

/* The host's root, and the sandbox's. */
static int old_root = -1;
static int new_root = -1;
/* Tells what was made here. */
static dev_t own_device;
/* Directories that were made for the sandbox, whose names are numbers. */
static unsigned long made;

/* A comma-separated list, or `-` for none. */
static uint64_t take_attributes(void) {
  char *word = take_word();
  uint64_t flags = 0;
  if (strcmp(word, "-") == 0) return 0;
  for (const char *at = word;;) {
    const size_t length = strcspn(at, ",");
    uint64_t flag = 0;
    for (size_t index = 0; index < sizeof attribute_names / sizeof *attribute_names; index++) {
      const char *name = attribute_names[index].name;
      if (strlen(name) == length && strncmp(name, at, length) == 0) flag = attribute_names[index].flag;
    }
    if (flag == 0) fail(EPROTO, word);
    flags |= flag;
    if (at[length] == '\0') return flags;
    at += length + 1;
  }
}

/* Opens a path below a root as a mere place; -1 with errno. */
static int find(int root, const char *path, int flags) {
  const struct open_request how = {
      .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
  };
  for (int tries = 0;; tries++) {
    const int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd < 0 && errno == EAGAIN && tries < MAX_TRIES) continue;
    return fd;
  }
}

static int is_directory(int fd) {
  struct stat facts;
  check(fstat(fd, &facts), "");
  // Some ways to open a place give a link itself, and a mount on that would be where the link leads.
  if (S_ISLNK(facts.st_mode)) fail(ELOOP, "");
  return S_ISDIR(facts.st_mode);
}

/* Nothing is ever made in a file system of the host. */
static void require_own(int directory, const char *path) {
  struct stat facts;
  check(fstat(directory, &facts), path);
  if (facts.st_dev != own_device) fail(ENOENT, path);
}

/*
 * Opens the directory that a path of the sandbox is in, makes those that are missing, and gives the last name of it. The
 * word is whole again when this returns.
 */
static int open_parent(char *path, const char **last) {
  int directory = (int)check(dup(new_root), path);
  char *name = path;
  for (;;) {
    while (*name == '/') name++;
    const size_t length = strcspn(name, "/");
    char *rest = name + length;
    while (*rest == '/') rest++;
    if (length == 0 || strncmp(name, "..", length) == 0) fail(EPROTO, path);
    if (*rest == '\0') break;
    const char separator = name[length];
    name[length] = '\0';
    int next = find(directory, name, O_DIRECTORY);
    if (next < 0 && errno == ENOENT) {
      require_own(directory, path);
      check(mkdirat(directory, name, 0755), path);
      next = find(directory, name, O_DIRECTORY);
    }
    name[length] = separator;
    check(next, path);
    close(directory);
    directory = next;
    name = rest;
  }
  *last = name;
  return directory;
}

/* Opens a place in the sandbox to mount on, which is made where nothing is. */
static int open_target(char *path, int wants_directory) {
  int target = find(new_root, path, 0);
  if (target < 0 && errno == ENOENT) {
    const char *name;
    const int parent = open_parent(path, &name);
    require_own(parent, path);
    if (wants_directory) check(mkdirat(parent, name, 0755), path);
    else check(mknodat(parent, name, S_IFREG | 0444, 0), path);
    close(parent);
    target = find(new_root, path, 0);
  }
  check(target, path);
  const int has_directory = is_directory(target);
  if (has_directory != wants_directory) fail(has_directory ? EISDIR : ENOTDIR, path);
  return target;
}

static void set_attributes(int fd, uint64_t set, int flags, const char *path) {
  const struct attributes attributes = {.set = set};
  if (set == 0) return;
  check(syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attributes, sizeof attributes), path);
}

/* A copy of the mount that a descriptor leads to, beginning there, which is nowhere yet. */
static int clone_tree(int source, int flags, const char *path) {
  return (int)check(syscall(SYS_open_tree, source, "", AT_EMPTY_PATH | TREE_CLONE | TREE_CLOEXEC | flags), path);
}

static void attach(int tree, int target, const char *path) {
  check(syscall(SYS_move_mount, tree, "", target, "", SOURCE_IS_FD | TARGET_IS_FD), path);
}

static void mount_tree(int tree, char *path) {
  const int target = open_target(path, is_directory(tree));
  attach(tree, target, path);
  close(target);
  close(tree);
}

/* A file system of a kind, not mounted yet. Options are pairs of a name and a value. */
static int make_file_system(const char *kind, const char *const *options, uint64_t attributes) {
  const int context = (int)check(syscall(SYS_fsopen, kind, FS_CLOEXEC), kind);
  for (; *options != NULL; options += 2)
    check(syscall(SYS_fsconfig, context, CONFIG_SET_STRING, options[0], options[1], 0), options[0]);
  check(syscall(SYS_fsconfig, context, CONFIG_CREATE, NULL, NULL, 0), kind);
  const int fd = (int)check(syscall(SYS_fsmount, context, FS_CLOEXEC, attributes), kind);
  close(context);
  return fd;
}

/* A new directory, opened by its place in the file system that everything is made in. */
static int make_directory(mode_t mode) {
  char digits[24];
  const char *name = write_number(digits + sizeof digits, made++);
  check(mkdir(name, mode), name);
  return (int)check(open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), name);
}

/* Things to hide others with, in a mount that cannot be written, which is what copies of it are, too. */
static void make_hiders(void) {
  check(mkdir("hidden", 0755), "hidden");
  check(mkdir("hidden/directory", 0), "hidden");
  check(mknod("hidden/file", S_IFREG, 0), "hidden");
  const int place = (int)check(open("hidden", O_PATH | O_DIRECTORY | O_CLOEXEC), "hidden");
  const int tree = clone_tree(place, 0, "hidden");
  set_attributes(tree, 0x1 | 0x2 | 0x4 | 0x8, 0, "hidden");
  attach(tree, place, "hidden");
  close(tree);
  close(place);
}

/* Puts the file system that the sandbox is made in where the host's root was, and that below it. */
static void make_workplace(void) {
  static const char *const options[] = {"mode", "0755", NULL};
  const int tree = make_file_system("tmpfs", options, 0x2 | 0x4);
  const int root = (int)check(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), "/");
  attach(tree, root, "/");
  close(root);
  check(fchdir(tree), "/");
  close(tree);
  check(mkdir("old", 0755), "old");
  check(mkdir("new", 0755), "new");
  check(syscall(SYS_pivot_root, ".", "old"), "old");
  check(chdir("/"), "/");
  struct stat facts;
  check(stat("/", &facts), "/");
  own_device = facts.st_dev;
  old_root = (int)check(open("old", O_PATH | O_DIRECTORY | O_CLOEXEC), "old");
  make_hiders();
}

/* root empty MODE | root host ATTRIBUTES */
void step_root(void) {
  const char *kind = take_word();
  int tree;
  run.program_umask = umask(0);
  make_workplace();
  if (strcmp(kind, "host") == 0) {
    const uint64_t attributes = take_attributes();
    tree = clone_tree(old_root, TREE_RECURSIVE, "/");
    set_attributes(tree, attributes, TREE_RECURSIVE, "/");
  } else if (strcmp(kind, "empty") == 0) {
    const int place = make_directory(take_mode());
    tree = clone_tree(place, 0, "/");
    close(place);
  } else {
    fail(EPROTO, kind);
  }
  const int target = (int)check(open("new", O_PATH | O_DIRECTORY | O_CLOEXEC), "new");
  attach(tree, target, "/");
  close(target);
  // It is the root of what was mounted, by whatever name that is reached.
  new_root = tree;
  run.phase = BUILDING;
}

/* bind SOURCE TARGET ATTRIBUTES: what the host has at SOURCE, with everything that is mounted below it. */
void step_bind(void) {
  const char *source = take_word();
  char *target = take_word();
  const uint64_t attributes = take_attributes();
  const int place = (int)check(find(old_root, source, 0), source);
  is_directory(place);
  const int tree = clone_tree(place, TREE_RECURSIVE, source);
  close(place);
  set_attributes(tree, attributes, TREE_RECURSIVE, source);
  mount_tree(tree, target);
}

/* directory TARGET MODE: in what was made here. */
void step_directory(void) {
  char *path = take_word();
  const mode_t mode = take_mode();
  const char *name;
  const int parent = open_parent(path, &name);
  require_own(parent, path);
  check(mkdirat(parent, name, mode), path);
  close(parent);
}

/* tmpfs TARGET MODE: an empty directory that can be filled. */
void step_tmpfs(void) {
  char *path = take_word();
  const int place = make_directory(take_mode());
  const int tree = clone_tree(place, 0, path);
  close(place);
  mount_tree(tree, path);
}

/* proc TARGET ATTRIBUTES */
void step_proc(void) {
  static const char *const options[] = {NULL};
  char *path = take_word();
  mount_tree(make_file_system("proc", options, take_attributes()), path);
}

/* devpts TARGET ATTRIBUTES: terminals of the sandbox's own. */
void step_devpts(void) {
  static const char *const options[] = {"ptmxmode", "0666", "mode", "0620", NULL};
  char *path = take_word();
  mount_tree(make_file_system("devpts", options, take_attributes()), path);
}

/* console TARGET: the terminal at descriptor 0, so that it has a name in the sandbox; nothing where that is none. */
void step_console(void) {
  char *target = take_word();
  char name[PATH_MAX];
  struct stat wanted;
  struct stat found;
  if (isatty(0) == 0) return;
  // `old` has the `/proc` of the host, where this process has another number; `self` knows it.
  const ssize_t length = readlink("old/proc/self/fd/0", name, sizeof name - 1);
  if (length < 0) return;
  name[length] = '\0';
  const int place = find(old_root, name, 0);
  if (place < 0) return;
  if (fstat(0, &wanted) == 0 && fstat(place, &found) == 0 && S_ISCHR(found.st_mode) &&
      found.st_rdev == wanted.st_rdev) {
    const int tree = clone_tree(place, 0, name);
    set_attributes(tree, 0x2 | 0x8, 0, name);
    mount_tree(tree, target);
  }
  close(place);
}

static void hide(const char *hider, int wants_directory) {
  char *path = take_word();
  const int target = open_target(path, wants_directory);
  const int place = (int)check(open(hider, O_PATH | O_NOFOLLOW | O_CLOEXEC), hider);
  const int tree = clone_tree(place, 0, path);
  attach(tree, target, path);
  close(tree);
  close(place);
  close(target);
}

/* hide-file TARGET: nobody can open what is there then, nor change that. */
void step_hide_file(void) { hide("hidden/file", 0); }

/* hide-directory TARGET */
void step_hide_directory(void) { hide("hidden/directory", 1); }

/* symlink TEXT TARGET */
void step_symlink(void) {
  const char *text = take_word();
  char *path = take_word();
  const char *name;
  const int parent = open_parent(path, &name);
  require_own(parent, path);
  check(symlinkat(text, parent, name), path);
  close(parent);
}

/* attributes TARGET ATTRIBUTES: adds some to what is mounted there, and to nothing below it. */
void step_attributes(void) {
  char *path = take_word();
  const uint64_t attributes = take_attributes();
  const int target = (int)check(find(new_root, path, 0), path);
  set_attributes(target, attributes, 0, path);
  close(target);
}

/* pivot: leaves the host's file system behind. */
void step_pivot(void) {
  check(fchdir(new_root), "/");
  close(new_root);
  close(old_root);
  // One on top of the other: the upper one, which is to go, is what the name leads to.
  check(syscall(SYS_pivot_root, ".", "."), "/");
  check(umount2(".", MNT_DETACH), "/");
  check(chdir("/"), "/");
  umask(run.program_umask);
  run.phase = PIVOTED;
}
