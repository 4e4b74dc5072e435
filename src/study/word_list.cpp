#include "study/word_list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn::study {

Words words_of(std::string_view option, std::string_view list, const Words& known) {
    if (list.empty()) return known;
    Words words;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        const std::string_view word = list.substr(at, end - at);
        if (std::find(known.begin(), known.end(), word) == known.end())
            fail_usage(fmt::format("{}: unknown word '{}'", option, word),
                       hint_for_unknown(word, known));
        if (std::find(words.begin(), words.end(), word) != words.end())
            fail_usage(fmt::format("{}: '{}' stands twice", option, word), "name each once");
        words.push_back(word);
        at = end + 1;
    }
    return words;
}

}  // namespace pibinn::study
