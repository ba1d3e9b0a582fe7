#include "app/manual.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "coordinator/sessions/version.h"

namespace baton::app {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    return app.get_options([](const CLI::Option*) { return true; });
}

// Every command with the words that lead to it, such as "query stop".
void gather(const CLI::App& app, const std::string& path,
            std::vector<std::pair<std::string, const CLI::App*>>& all) {
    all.emplace_back(path, &app);
    for (const CLI::App* one : commands_of(app)) {
        gather(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), all);
    }
}

std::vector<std::pair<std::string, const CLI::App*>> all_commands(const CLI::App& app) {
    std::vector<std::pair<std::string, const CLI::App*>> all;
    gather(app, "", all);
    return all;
}

// "--format --on-error -c"
std::vector<std::string> flags_of(const CLI::App& app) {
    std::vector<std::string> flags;
    for (const CLI::Option* option : options_of(app)) {
        for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
        for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
    }
    return flags;
}

// The words after which a command's name may stand, or its options.
std::string words_after(const CLI::App& app) {
    std::vector<std::string> words;
    for (const CLI::App* one : commands_of(app)) words.push_back(one->get_name());
    for (const std::string& flag : flags_of(app)) words.push_back(flag);
    return join(words, " ");
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
    std::string cases;
    for (const auto& [path, command] : all_commands(app)) {
        cases += "        \"" + path + "\") words=\"" + words_after(*command) + "\" ;;\n";
    }
    return "# Completes the words of `baton` in bash; files where none fits.\n"
           "_baton() {\n"
           "    local path=\"\" word i words=\"\"\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        word=${COMP_WORDS[i]}\n"
           "        [[ $word == -* ]] && break\n"
           "        path=${path:+$path }$word\n"
           "    done\n"
           "    while :; do\n"
           "        case $path in\n" +
           cases +
           "        esac\n"
           "        [[ -n $words || -z $path ]] && break\n"
           "        [[ $path == *\" \"* ]] && path=${path% *} || path=\"\"\n"
           "    done\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
           "}\n"
           "complete -o default -F _baton baton\n";
}

std::string zsh_completion(const CLI::App& app) {
    return "# Completes the words of `baton` in zsh, with the function for bash.\n"
           "autoload -U +X bashcompinit && bashcompinit\n" +
           bash_completion(app);
}

// ---- man ----------------------------------------------------------------------------------------

namespace {

// Text as roff takes it: nothing of it is a command.
std::string roff(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\\') {
            result += "\\e";
        } else if (c == '-') {
            result += "\\-";
        } else if (c == '\n') {
            result += '\n';
        } else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
            result += std::string("\\&") + c;
        } else {
            result += c;
        }
    }
    return result;
}

std::string option_text(const CLI::Option& option) {
    std::string name = option.get_name(option.get_positional(), true);
    std::replace(name.begin(), name.end(), ',', ' ');
    std::string text = ".TP\n\\fB" + roff(name) + "\\fR";
    if (const std::string type = option.get_type_name(); !type.empty()) text += " " + roff(type);
    text += "\n" + roff(option.get_description());
    if (const std::string value = option.get_default_str(); !value.empty()) {
        text += " [" + roff(value) + "]";
    }
    if (const std::string variable = option.get_envname(); !variable.empty()) {
        text += " (environment: " + roff(variable) + ")";
    }
    return text + "\n";
}

}  // namespace

std::string man_page(const CLI::App& app) {
    std::string text =
        ".TH BATON 1 \"\" \"" + std::string(coordinator::kVersion) + "\" \"Baton\"\n";
    text += ".SH NAME\nbaton \\- the coordinator of a distributed query system\n";
    text += ".SH SYNOPSIS\n.B baton\n[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]\n";
    text += ".SH DESCRIPTION\n" + roff(app.get_footer()) + "\n.SH COMMANDS\n";
    for (const auto& [path, command] : all_commands(app)) {
        if (path.empty()) continue;
        text += ".SS baton " + roff(path) + "\n" + roff(command->get_description()) + "\n";
        for (const CLI::Option* option : options_of(*command)) {
            if (option->check_lname("help")) continue;
            text += option_text(*option);
        }
        if (const std::string footer = command->get_footer(); !footer.empty()) {
            text += ".PP\n.nf\n" + roff(footer) + "\n.fi\n";
        }
    }
    text +=
        ".SH EXIT STATUS\n0 if all went well, 1 if something failed, 2 if the command line was "
        "wrong, 3 if\n.B baton status\nfound something that is not well.\n"
        ".SH ENVIRONMENT\n.TP\n\\fBBATON_CONNECT\\fR\nthe address of the coordinator, if "
        "\\-\\-connect is not given.\n"
        ".TP\n\\fBBATON_USER_SECRET\\fR\na file with the secret by which the processes of one "
        "user know each other; ~/.local/state/baton/secret if it is not set.\n"
        ".TP\n\\fBPGPASSWORD\\fR, \\fB~/.pgpass\\fR\nthe password for a connection.\n"
        ".TP\n\\fBNO_COLOR\\fR\nif it is not empty, nothing is coloured.\n"
        ".TP\n\\fBBATON_...\\fR\nsettings of the daemon: see\n.B baton config show\n";
    return text;
}

}  // namespace baton::app
