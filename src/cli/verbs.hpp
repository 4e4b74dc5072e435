#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pibinn::cli {

/// What stands on the command line after the verb.
using Arguments = std::vector<std::string>;

struct Verb {
    std::string_view name;
    std::string_view summary;
    void (*run)(const Arguments& arguments);
};

/// Every verb of the program, in the order in which `pibinn --help` lists them.
std::span<const Verb> all_verbs();

void run_bench(const Arguments& arguments);
void run_certify(const Arguments& arguments);
void run_compare(const Arguments& arguments);
void run_demo(const Arguments& arguments);
void run_eval(const Arguments& arguments);
void run_export(const Arguments& arguments);
void run_init(const Arguments& arguments);
void run_inspect(const Arguments& arguments);
void run_recover(const Arguments& arguments);
void run_recover_image(const Arguments& arguments);
void run_sample(const Arguments& arguments);
void run_solve(const Arguments& arguments);
void run_train(const Arguments& arguments);

}  // namespace pibinn::cli
