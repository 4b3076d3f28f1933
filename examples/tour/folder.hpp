// The --folder mode: a stranger's own files, indexed and asked.
#pragma once

#include <string>

namespace tour {

/// Indexes `folder` and answers `ask`, or questions from standard input if it is empty. Returns the exit status.
///
/// Files that cannot be read are named on standard error and left out. Errors are exceptions.
int run_folder(const std::string& folder, const std::string& ask);

}  // namespace tour
