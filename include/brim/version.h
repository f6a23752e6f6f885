// The version of these headers, as Semantic Versioning has it; that of the CMake package too.
#pragma once

#define BRIM_VERSION "0.1.0"
