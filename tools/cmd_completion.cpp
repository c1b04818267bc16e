// SPDX-License-Identifier: MIT
// `mla-tune completion bash|zsh|fish`: scripts written from the option tables.
#include <fmt/format.h>

#include <string_view>

#include "tools/commands.h"

namespace mla::tools {
namespace {

std::string words(const char* choices) {
  return fmt::format("{}", fmt::join(split(choices, '|'), " "));
}

bool takes_file(const OptionSpec& option) {
  return std::string_view(option.value) == "FILE";
}
bool takes_files(const VerbSpec& spec) {
  return *spec.operands != '\0';
}
bool takes_value(const OptionSpec& option) {
  return *option.value != '\0';
}

std::string verb_words() {
  std::string text;
  for (const VerbSpec& spec : verb_table())
    text += fmt::format("{}{}", text.empty() ? "" : " ", spec.name);
  return text;
}

std::string option_words(Verb verb) {
  std::string text;
  for (const OptionSpec& option : option_table()) {
    if (takes(verb, option)) text += fmt::format("{}--{}", text.empty() ? "" : " ", option.name);
  }
  return text;
}

std::string bash_values() {
  std::string cases;
  for (const OptionSpec& option : option_table()) {
    if (is_choice(option)) {
      cases += fmt::format("    --{}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return ;;\n",
                           option.name,
                           words(option.value));
    } else if (takes_file(option)) {
      cases +=
          fmt::format("    --{}) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", option.name);
    } else if (takes_value(option)) {
      cases += fmt::format("    --{}) return ;;\n", option.name);
    }
  }
  return cases;
}

std::string bash_script() {
  std::string script =
      "# bash completion of mla-tune\n"
      "_mla_tune() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  script += fmt::format("    COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\")); return\n",
                        verb_words());
  script += "  fi\n  case $prev in\n" + bash_values() + "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const VerbSpec& spec : verb_table()) {
    const std::string actions = *spec.actions == '\0' ? "" : words(spec.actions) + " ";
    script += fmt::format("    {}) COMPREPLY=($(compgen {}-W '{}{}' -- \"$cur\")) ;;\n",
                          spec.name,
                          takes_files(spec) ? "-f " : "",
                          actions,
                          option_words(spec.verb));
  }
  return script + "  esac\n}\ncomplete -F _mla_tune mla-tune\n";
}

// Quotes for a zsh _arguments spec in single quotes, where '[', ']' and ':' end a part.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string zsh_option(const OptionSpec& option) {
  std::string spec = fmt::format("'{}--{}{}[{}]",
                                 option.repeats ? "*" : "",
                                 option.name,
                                 takes_value(option) ? "=" : "",
                                 zsh_text(option.text));
  if (is_choice(option)) {
    spec += fmt::format(":value:({})", words(option.value));
  } else if (takes_file(option)) {
    spec += ":file:_files";
  } else if (takes_value(option)) {
    spec += fmt::format(":{}: ", zsh_text(option.value));
  }
  return spec + "'";
}

std::string zsh_script() {
  std::string script =
      "#compdef mla-tune\n"
      "_mla_tune() {\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a verbs\n"
      "    verbs=(";
  for (const VerbSpec& spec : verb_table()) {
    script += fmt::format("\n      '{}:{}'", spec.name, zsh_text(spec.text));
  }
  script +=
      ")\n    _describe verb verbs\n    return\n  fi\n  local verb=$words[2]\n  shift words; (( "
      "CURRENT-- ))\n  case $verb in\n";
  for (const VerbSpec& spec : verb_table()) {
    script += fmt::format("    {}) _arguments", spec.name);
    if (*spec.actions != '\0')
      script += fmt::format(" \\\n      '1:action:({})'", words(spec.actions));
    if (takes_files(spec)) script += " \\\n      '*:file:_files'";
    for (const OptionSpec& option : option_table()) {
      if (takes(spec.verb, option)) script += " \\\n      " + zsh_option(option);
    }
    script += " ;;\n";
  }
  return script + "  esac\n}\n_mla_tune \"$@\"\n";
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_script() {
  std::string script = "# fish completion of mla-tune\ncomplete -c mla-tune -f\n";
  for (const VerbSpec& spec : verb_table()) {
    script += fmt::format("complete -c mla-tune -n __fish_use_subcommand -a {} -d {}\n",
                          spec.name,
                          fish_quoted(spec.text));
    const std::string here =
        fmt::format("complete -c mla-tune -n '__fish_seen_subcommand_from {}'", spec.name);
    if (*spec.actions != '\0') script += fmt::format("{} -a '{}'\n", here, words(spec.actions));
    if (takes_files(spec)) script += here + " -F\n";
    for (const OptionSpec& option : option_table()) {
      if (!takes(spec.verb, option)) continue;
      script += fmt::format("{} -l {}", here, option.name);
      if (option.letter != 0) script += fmt::format(" -s {}", option.letter);
      if (is_choice(option)) {
        script += fmt::format(" -x -a '{}'", words(option.value));
      } else if (takes_value(option)) {
        script += takes_file(option) ? " -r -F" : " -x";
      }
      script += fmt::format(" -d {}\n", fish_quoted(option.text));
    }
  }
  return script;
}

}  // namespace

int cmd_completion(const Options& options) {
  fmt::print("{}",
             options.action == "bash"  ? bash_script()
             : options.action == "zsh" ? zsh_script()
                                       : fish_script());
  return kDone;
}

}  // namespace mla::tools
