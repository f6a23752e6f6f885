#pragma once

#define BRIM_VERSION "0.1.0"
