// SPDX-License-Identifier: MIT
#include "tests/tools/terminal.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace mla::testing {
namespace {

[[noreturn]] void become_program(const std::vector<std::string>& args,
                                 std::map<std::string, std::string> environment) {
  environment.try_emplace("PATH", "/usr/bin:/bin");
  environment.try_emplace("TERM", "xterm");
  std::vector<std::string> words = {MLA_TUNE_PROGRAM}, variables;
  words.insert(words.end(), args.begin(), args.end());
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

// What a terminal makes of the bytes: carriage return, erase to the end of the line, colours.
void show(Screen* screen) {
  std::string line;
  size_t cursor = 0;
  for (size_t i = 0; i < screen->raw.size(); ++i) {
    const char c = screen->raw[i];
    if (c == '\n') {
      screen->lines.push_back(line);
      line.clear();
      cursor = 0;
    } else if (c == '\r') {
      if (i + 1 < screen->raw.size() && screen->raw[i + 1] != '\n') {
        screen->cursor_moved = true;
        screen->widest_rewritten = std::max(screen->widest_rewritten, line.size());
      }
      cursor = 0;
    } else if (c == '\033') {
      while (i + 1 < screen->raw.size() && !std::isalpha(screen->raw[i])) ++i;
      if (screen->raw[i] == 'K') line.resize(cursor);
      if (screen->raw[i] == 'm') screen->coloured = true;
    } else {
      if (cursor >= line.size()) line.resize(cursor + 1, ' ');
      line[cursor++] = c;
      screen->widest = std::max(screen->widest, line.size());
    }
  }
  if (!line.empty()) screen->lines.push_back(line);
}

}  // namespace

Screen on_terminal(const std::vector<std::string>& args,
                   int columns,
                   const std::map<std::string, std::string>& environment) {
  winsize size{};
  size.ws_row = 40;
  size.ws_col = static_cast<unsigned short>(columns);
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid < 0) throw std::runtime_error("forkpty");
  if (pid == 0) become_program(args, environment);
  Screen screen;
  char buffer[4096];
  // The read fails with EIO once the program has gone.
  for (ssize_t count; (count = read(terminal, buffer, sizeof buffer)) > 0;) {
    screen.raw.append(buffer, static_cast<size_t>(count));
  }
  close(terminal);
  int status = 0;
  waitpid(pid, &status, 0);
  screen.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  show(&screen);
  return screen;
}

}  // namespace mla::testing
