// SPDX-License-Identifier: MIT
// Boost.Program_options takes the words apart; legality, repetition and values are decided by the
// option table. Abbreviations are off: they would make every new option a breaking change.
#include "tools/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <set>
#include <string_view>

#include "kernels/error.h"

namespace mla::tools {
namespace {

namespace po = boost::program_options;

Error usage(const std::string& text) {
  return Error(ErrorCode::kUsage, text);
}

std::vector<std::string> option_names(Verb verb) {
  std::vector<std::string> names;
  for (const OptionSpec& option : option_table()) {
    if (takes(verb, option)) names.push_back(option.name);
  }
  return names;
}

const VerbSpec& parse_verb(const std::string& word) {
  std::vector<std::string> names;
  for (const VerbSpec& spec : verb_table()) {
    if (word == spec.name) return spec;
    names.emplace_back(spec.name);
  }
  throw usage(fmt::format("'{}' is not a verb{}; see mla-tune --help", word, hint(word, names)));
}

po::options_description description(Verb verb) {
  po::options_description all;
  for (const OptionSpec& option : option_table()) {
    if (!takes(verb, option)) continue;
    const std::string names =
        option.letter != 0 ? fmt::format("{},{}", option.name, option.letter) : option.name;
    if (*option.value != '\0') {
      all.add_options()(names.c_str(), po::value<std::string>(), option.text);
    } else {
      all.add_options()(names.c_str(), option.text);
    }
  }
  return all;
}

[[noreturn]] void rethrow_unknown(const po::unknown_option& error, const VerbSpec& verb) {
  const std::string written = error.get_option_name();
  const std::string name = written.substr(std::min(written.find_first_not_of('-'), written.size()));
  const auto options = option_table();
  const bool elsewhere = std::any_of(options.begin(), options.end(), [&](const OptionSpec& option) {
    return name == option.name;
  });
  if (elsewhere)
    throw usage(fmt::format(
        "--{}: not an option of '{}'; see mla-tune {} --help", name, verb.name, verb.name));
  const std::string nearest = nearest_name(name, option_names(verb.verb));
  throw usage(fmt::format("{}: unknown option{}",
                          written,
                          nearest.empty() ? "" : fmt::format(", did you mean '--{}'?", nearest)));
}

std::vector<po::option> tokenize(const std::vector<std::string>& words, const VerbSpec& verb) {
  const po::options_description all = description(verb.verb);
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    return po::command_line_parser(words).options(all).style(style).run().options;
  } catch (const po::unknown_option& error) {
    rethrow_unknown(error, verb);
  } catch (const po::invalid_command_line_syntax& error) {
    const std::string name = error.get_option_name();
    const bool extra = error.kind() == po::invalid_command_line_syntax::extra_parameter;
    throw usage(fmt::format("{}: {}", name, extra ? "takes no value" : "needs a value"));
  } catch (const po::error& error) {
    throw usage(error.what());
  }
}

size_t operand_count(const VerbSpec& verb) {
  return *verb.operands == '\0' ? 0 : split(verb.operands, ' ').size();
}

void apply_word(const std::string& word, const VerbSpec& verb, Options* options) {
  if (options->operands.size() < operand_count(verb)) {
    options->operands.push_back(word);
    return;
  }
  if (*verb.actions == '\0' || !options->action.empty()) {
    throw usage(fmt::format("unexpected argument '{}'; see mla-tune {} --help", word, verb.name));
  }
  options->action = parse_choice(word, verb.actions);
}

void apply_option(const po::option& token, Options* options, std::set<std::string>* seen) {
  const auto table = option_table();
  const auto spec = std::find_if(table.begin(), table.end(), [&](const OptionSpec& option) {
    return token.string_key == option.name && takes(options->verb, option);
  });
  if (spec == table.end()) throw Error(ErrorCode::kInternal, "no row for " + token.string_key);
  if (!seen->insert(spec->name).second && !spec->repeats) {
    throw usage(fmt::format("--{}: given twice", spec->name));
  }
  try {
    spec->apply(options, token.value.empty() ? "" : token.value.front());
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("--{}: {}", spec->name, error.what()));
  }
}

bool plain_word(const std::string& word) {
  return !word.empty() && word.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789-_=+,.:/@%") == std::string::npos;
}

}  // namespace

const VerbSpec& spec_of(Verb verb) {
  for (const VerbSpec& spec : verb_table()) {
    if (spec.verb == verb) return spec;
  }
  throw Error(ErrorCode::kInternal, "verb without a row");
}

bool takes(Verb verb, const OptionSpec& option) {
  return (option.verbs & static_cast<unsigned>(verb)) != 0;
}

bool is_choice(const OptionSpec& option) {
  return std::string_view(option.value).find('|') != std::string_view::npos;
}

Options parse_options(const std::vector<std::string>& args) {
  if (args.empty()) throw usage("a verb is missing; see mla-tune --help");
  const VerbSpec& verb = parse_verb(args.front());
  Options options;
  options.verb = verb.verb;
  options.command_line = "mla-tune " + shell_quoted(args);
  std::set<std::string> seen;
  for (const po::option& token : tokenize({args.begin() + 1, args.end()}, verb)) {
    if (token.string_key.empty()) {
      apply_word(token.value.front(), verb, &options);
    } else {
      apply_option(token, &options, &seen);
    }
  }
  if (verb.needs_action && options.action.empty() && !options.help) {
    throw usage(fmt::format("needs one of {}", fmt::join(split(verb.actions, '|'), ", ")));
  }
  if (options.operands.size() < operand_count(verb) && !options.help) {
    throw usage(fmt::format("needs {}", verb.operands));
  }
  return options;
}

std::string verb_name(const std::vector<std::string>& args) {
  if (args.empty()) return "";
  for (const VerbSpec& spec : verb_table()) {
    if (args.front() == spec.name) return spec.name;
  }
  return "";
}

std::string shell_quoted(const std::vector<std::string>& args) {
  std::string line;
  for (const std::string& word : args) {
    if (!line.empty()) line += ' ';
    if (plain_word(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace mla::tools
